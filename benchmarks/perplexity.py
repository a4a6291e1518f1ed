"""The n-gram models of danlu beside KenLM's: the same texts trained by both, the same ARPA file queried by both.

Each corpus is NAME=KIND:TRAIN:TEST, with texts in .txt or .jsonl (field "text"), also .gz; KIND is what a word is. Both
trainers get the same words: lmplz reads them as danlu cuts them, parted by spaces. The table says for each corpus the
perplexity on TEST of both models, the largest difference of a probability between the two ARPA files, and of the score
of a sentence between danlu and ufal-kenlm on danlu's ARPA file (KenLM's words added up in double precision; beside it
as KenLM adds them itself, in single). Seconds are processor time with kernels compiled; memory is the peak of a process
that only trains. Where a perplexity is more than 2 % above lmplz's or a score differs by more than 1e-4, the exit code
is 1. lmplz is built from KenLM's source (`cmake .. && make lmplz build_binary`); without --lmplz danlu stands alone.

Run:  python benchmarks/perplexity.py wiki=spaces:VALID.txt.gz:TEST.txt.gz zh=characters:A.txt:B.txt --lmplz PATH
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from danlu.lm.arpa import read_arpa
from danlu.lm.query import Binary, Model, load_model, perplexity
from danlu.lm.tokens import Kind, Sentences, cut, spell
from danlu.lm.train import MEMORY_BYTES, train_lm
from danlu.words.text import encode
from machine import machine

MOST_RATIO, MOST_DIFFERENCE = 1.02, 1e-4


class Corpus(NamedTuple):
    """Texts to train on and to measure."""

    name: str
    kind: Kind
    train: Path
    test: Path


def read_texts(path: Path) -> Iterator[str]:
    """The documents of a file; a .txt is one."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        if ".jsonl" in path.name:
            yield from (json.loads(line)["text"] for line in file)
        else:
            yield file.read()


def lines_of(sentences: Sentences) -> list[str]:
    """Every sentence as its words with spaces between."""
    words = [spell(sentences, word) for word in range(len(sentences.starts))]
    bounds = [0, *sentences.lines.tolist()]
    return [" ".join(words[start:end]) for start, end in pairwise(bounds)]


def train_here(corpus: Corpus, path: Path, order: int, memory: int) -> None:
    """Trains twice, so that the second time compiles nothing; prints processor seconds and peak memory."""
    texts = list(read_texts(corpus.train))
    train_lm(["warm up"], path, order=order, tokens=corpus.kind, held_out_share=0.0)
    before = peak_megabytes()
    start = time.process_time()
    train_lm(texts, path, order=order, tokens=corpus.kind, held_out_share=0.0, memory_bytes=memory)
    seconds = time.process_time() - start
    print(json.dumps({"seconds": seconds, "before_mb": before, "peak_mb": peak_megabytes()}))


def peak_megabytes() -> float:
    """The most memory that this process has had; unlike getrusage's, not what its parent had."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def train_ours(corpus: Corpus, path: Path, options: argparse.Namespace) -> dict[str, float]:
    """What `train_here` says in a process of its own."""
    given = f"{corpus.name}={corpus.kind}:{corpus.train}:{corpus.test}"
    command = [sys.executable, __file__, given, "--train-here", str(path), "--order", str(options.order)]
    command += ["--memory", str(options.memory)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def train_theirs(corpus: Corpus, path: Path, options: argparse.Namespace) -> float:
    """Trains with lmplz on the same words; processor seconds."""
    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder) / "words.txt"
        with words.open("w", encoding="utf-8") as file:
            for text in read_texts(corpus.train):
                file.writelines(f"{line}\n" for line in lines_of(cut(encode(text), corpus.kind)))
        command = [options.lmplz, "-o", str(options.order), "-S", f"{options.memory}b", "-T", folder]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with words.open("rb") as source, path.open("wb") as target:
            more = ["--skip_symbols", "--discount_fallback"]
            subprocess.run([*command, *more], stdin=source, stdout=target, stderr=subprocess.PIPE, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(model: Model | Binary, tests: list[Sentences]) -> float:
    """The perplexity of all texts as one."""
    total = sum(float(model.score(test).sum()) for test in tests)
    return perplexity(total, sum(len(test.starts) for test in tests), sum(len(test.lines) for test in tests))


def largest_difference(one: Path, other: Path) -> float:
    """Of a log10 probability between two ARPA files; infinite where one has other n-grams."""
    columns = []
    for path in (one, other):
        blocks = list(read_arpa(path)[1])
        keys = np.concatenate([grams.keys for grams in blocks])
        order = np.argsort(keys, kind="stable")
        columns.append((keys[order], np.concatenate([grams.values[:, 0] for grams in blocks])[order]))
    (keys, ours), (their_keys, theirs) = columns
    if not np.array_equal(keys, their_keys):
        return float("inf")
    return float(np.abs(ours - theirs).max())


def beside_kenlm(path: Path, model: Model | Binary, tests: list[Sentences]) -> tuple[float, float, float]:
    """Largest differences of a sentence's score, added up in double and by KenLM; KenLM's processor seconds."""
    import kenlm

    theirs = kenlm.Model(str(path))
    ours = np.concatenate([model.score(test) for test in tests])
    lines = [line for test in tests for line in lines_of(test)]
    plain = [line.replace("<s>", "<unk>").replace("</s>", "<unk>") for line in lines]
    exact = np.array([sum(part[0] for part in theirs.full_scores(line)) for line in plain])
    start = time.process_time()
    single = np.array([theirs.score(line) for line in plain])
    seconds = time.process_time() - start
    return float(np.abs(ours - exact).max()), float(np.abs(ours - single).max()), seconds


def compare(corpus: Corpus, options: argparse.Namespace) -> bool:
    """Prints the lines of a corpus; whether everything is as near as it has to be."""
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder) / "ours.arpa", Path(folder) / "theirs.arpa"
        megabytes = sum(len(text.encode()) for text in read_texts(corpus.train)) / 1e6
        trained = train_ours(corpus, ours, options)
        print(f"{corpus.name}: {corpus.kind}, order {options.order}, {megabytes:.1f} MB to train on")
        print(f"  training      {megabytes / trained['seconds']:8.2f} MB/s of processor time, peak memory "
              f"{trained['peak_mb']:.0f} MB ({trained['before_mb']:.0f} MB before), ARPA "
              f"{ours.stat().st_size / 1e6:.1f} MB")  # fmt: skip
        model = load_model(ours)
        texts = list(read_texts(corpus.test))
        test_megabytes = sum(len(text.encode()) for text in texts) / 1e6
        measured(model, [cut(encode("warm up"), corpus.kind)])
        start = time.process_time()
        tests = [cut(encode(text), corpus.kind) for text in texts]
        value = measured(model, tests)
        seconds = time.process_time() - start
        print(f"  scoring       {test_megabytes / seconds:8.2f} MB/s with cutting into words")
        exact, single, their_seconds = beside_kenlm(ours, model, tests)
        print(f"  ufal-kenlm    {test_megabytes / their_seconds:8.2f} MB/s of lines that are cut already")
        print(f"  largest difference of a sentence's score: {exact:.1e}; as KenLM adds up: {single:.1e}")
        print(f"  perplexity on TEST: {value:.2f}")
        near = exact <= MOST_DIFFERENCE
        if options.lmplz:
            seconds = train_theirs(corpus, theirs, options)
            their_value = measured(load_model(theirs), tests)
            print(f"  lmplz         {megabytes / seconds:8.2f} MB/s; perplexity {their_value:.2f}, ours / lmplz "
                  f"{value / their_value:.5f}; largest difference of a probability "
                  f"{largest_difference(ours, theirs):.1e}")  # fmt: skip
            near &= value <= MOST_RATIO * their_value
    return near


def read_corpus(given: str) -> Corpus:
    """NAME=KIND:TRAIN:TEST."""
    name, _, rest = given.partition("=")
    kind, train, test = rest.split(":")
    return Corpus(name, kind, Path(train), Path(test))  # type: ignore[arg-type]


def main() -> int:
    """Prints the table; 1 where something is not as near as it has to be."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpora", nargs="+", type=read_corpus, metavar="NAME=KIND:TRAIN:TEST")
    parser.add_argument("--order", type=int, default=5)
    parser.add_argument("--memory", type=int, default=MEMORY_BYTES, help="bytes for each trainer")
    parser.add_argument("--lmplz", help="KenLM's trainer")
    parser.add_argument("--train-here", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train_here:
        train_here(options.corpora[0], options.train_here, options.order, options.memory)
        return 0
    print(machine())
    near = [compare(corpus, options) for corpus in options.corpora]
    return 0 if all(near) else 1


if __name__ == "__main__":
    sys.exit(main())
