"""Token shards for tokens.py: how fast they are built with one worker and with two, and in how much memory.

Each build is a process of its own on as many cores as it has workers, with one thread a library; the rounds take turns
and their median counts. "in all" is the text over the wall seconds of the build, opening the tokenizer and starting the
workers included; "beyond the start" is what further text adds: three quarters of it over the seconds that four times
the text take longer. Peak memory is the largest resident size of any of its processes. Run by tokens.py, and as
`python shard_tasks.py TOKENIZER CORPUS EMPTY_FOLDER WORKERS`, which prints the figures of one build as JSON.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

sys.path.append(str(Path(__file__).parent / "peers"))

from clock import Clock

from danlu.read.store import part_path, write_part
from danlu.records import Document
from danlu.shards.build import build_tokens
from danlu.tokenizer.settings import TokenizerSettings
from danlu.tokenizer.train import train_tokenizer

DOMAINS = ("even", "odd")
PARTS = 4
"""Parts of each domain of the given text."""
TIMES = 4
Row = dict[str, Any]


def add_shard_arguments(parser: argparse.ArgumentParser) -> None:
    """Texts, how much of them, which vocabulary."""
    parser.add_argument("texts", nargs="+", help="files or globs")
    parser.add_argument("--bytes", type=int, default=20_000_000)
    parser.add_argument("--vocab", type=int, default=16_384)
    parser.add_argument("--rounds", type=int, default=3)


def measure_shards(options: argparse.Namespace) -> None:
    """Prints the table of the builds, and what two busy loops do in each round."""
    from tokenizer_tasks import first_texts

    texts = first_texts(options.texts, options.bytes)
    builds = ((1, 1), (TIMES, 1), (TIMES, 2))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tokenizer = train(texts, options.vocab, folder)
        for times in (1, TIMES):
            write_corpus(folder / f"corpus-{times}", texts, times)
        runs, loops = take_turns(tokenizer, folder, builds, options.rounds)
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    print_builds(megabytes, {build: medians(of_one) for build, of_one in runs.items()}, loops)


def take_turns(
    tokenizer: Path, folder: Path, builds: Sequence[tuple[int, int]], rounds: int
) -> tuple[dict[tuple[int, int], list[Row]], list[float]]:
    """The figures of each build (times, workers) in each round, and of the busy loops."""
    from corpus import child
    from machine import busy_loop_gain

    cores = sorted(os.sched_getaffinity(0))[:2]
    runs: dict[tuple[int, int], list[Row]] = {build: [] for build in builds}
    loops = []
    for _ in range(rounds):
        loops.append(busy_loop_gain(2.0) if len(cores) > 1 else 1.0)
        for times, workers in builds:
            shutil.rmtree(folder / "tokens", ignore_errors=True)
            task = [__file__, str(tokenizer), str(folder / f"corpus-{times}"), str(folder / "tokens")]
            runs[times, workers].append(child([sys.executable, *task, str(workers)], cores[:workers]))
    return runs, loops


def medians(rows: list[Row]) -> Row:
    """Of the figures of some runs."""
    return {name: median(row[name] for row in rows) for name in ("wall_s", "cpu_s", "peak_mib")}


def print_builds(megabytes: float, found: dict[tuple[int, int], Row], loops: list[float]) -> None:
    """The table."""
    print(f"{'text':>9}{'workers':>9}{'wall':>10}{'processor':>11}{'in all':>12}{'peak memory':>14}")
    for (times, workers), row in found.items():
        print(
            f"{megabytes * times:6.0f} MB{workers:9}{row['wall_s']:8.2f} s{row['cpu_s']:9.2f} s"
            f"{megabytes * times / row['wall_s']:7.1f} MB/s{row['peak_mib']:10.0f} MiB"
        )
    one, four, two = (found[build] for build in ((1, 1), (TIMES, 1), (TIMES, 2)))
    further = megabytes * (TIMES - 1)
    print(
        f"beyond the start: {further / (four['wall_s'] - one['wall_s']):.1f} MB/s, "
        f"{further / (four['cpu_s'] - one['cpu_s']):.1f} MB a second of the processor\n"
        f"two workers over one: {four['wall_s'] / two['wall_s']:.2f} times; two pinned busy loops "
        f"{median(loops):.2f}\n"
        f"memory of {TIMES} times the text: {four['peak_mib'] / one['peak_mib']:.2f} times"
    )


def train(texts: Sequence[str], vocab_size: int, folder: Path) -> Path:
    """A byte-level BPE of the texts."""
    return train_tokenizer(
        TokenizerSettings(vocab_size=vocab_size), lambda: iter(texts), folder / "tokenizer"
    ).path


def write_corpus(corpus: Path, texts: Sequence[str], times: int = 1) -> None:
    """The texts, and `times - 1` copies with the words of every line shuffled, as a corpus of two domains."""
    rng = random.Random(1)
    for number, domain in enumerate(DOMAINS):
        chosen = texts[number :: len(DOMAINS)]
        documents = copies(domain, chosen, times, rng)
        for part in range(PARTS * times):
            some = itertools.islice(documents, -(-len(chosen) // PARTS))
            write_part(part_path(corpus, "train", domain, part), some)


def copies(domain: str, texts: Sequence[str], times: int, rng: random.Random) -> Iterator[Document]:
    """The documents of one copy after another."""
    for copy, (i, text) in itertools.product(range(times), enumerate(texts)):
        text = shuffled(text, rng) if copy else text
        yield Document(f"{domain}-{copy}-{i}", text, domain, domain, "")


def shuffled(text: str, rng: random.Random) -> str:
    """The text with the words of every line in another order."""
    lines = [line.split(" ") for line in text.split("\n")]
    for words in lines:
        rng.shuffle(words)
    return "\n".join(" ".join(words) for words in lines)


def main() -> None:
    """Builds once and prints what it took."""
    tokenizer, corpus, folder, workers = sys.argv[1:]
    clock = Clock()
    with clock.stage("tokens"):
        built = build_tokens(Path(tokenizer), Path(corpus), Path(folder), int(workers))
    clock.report("danlu", tokens=built.tokens("train"))


if __name__ == "__main__":
    main()
