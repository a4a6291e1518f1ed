"""Tokenizers for tokens.py: every kind beside the package that has it, and the memory of training on unbroken text.

Every round trains and encodes with all in turn, on one core, in seconds of processor time; of the rounds the median
counts. Kernels are compiled before. The packages train directly on the same texts: `tokenizers` with the same pattern,
`sentencepiece` on the same lines with the same options, without danlu's care for memory, long lines and ties. Encoding
is by the file that danlu trained; "same" says whether all ids were. `tiktoken` gets the vocabulary of the byte-level
BPE; what its package trains with is for teaching only. Nobody else has WordPiece by likelihood.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import sentencepiece
import tiktoken
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from danlu.monitor.memory import peak_bytes
from danlu.tokenizer.codec import SPECIAL_TOKENS, UNK, Codec
from danlu.tokenizer.pretokens import PATTERNS, make_pretokenizer, make_word_splitter
from danlu.tokenizer.settings import TokenizerSettings
from danlu.tokenizer.train import train_tokenizer
from danlu.workflow.texts import read_texts

KINDS: dict[str, dict[str, Any]] = {
    "byte_bpe": {"kind": "byte_bpe"},
    "bpe": {"kind": "bpe"},
    "wordpiece": {"kind": "wordpiece"},
    "wordpiece, likelihood": {"kind": "wordpiece", "score": "likelihood"},
    "unigram": {"kind": "unigram"},
    "char": {"kind": "char"},
    "sentencepiece_bpe": {"kind": "sentencepiece_bpe"},
    "sentencepiece_unigram": {"kind": "sentencepiece_unigram"},
}
HAN = re.compile("[\u4e00-\u9fff]{4,}[，。；：！？、]?")
LINE_CHARACTERS = 300_000

Work = Callable[[], Any]


def add_train_arguments(parser: argparse.ArgumentParser) -> None:
    """Texts, how much of them, which kinds."""
    parser.add_argument("texts", nargs="+", help="files or globs")
    parser.add_argument("--bytes", type=int, default=20_000_000)
    parser.add_argument("--vocab", type=int, default=16_384)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))


def add_memory_arguments(parser: argparse.ArgumentParser) -> None:
    """Chinese texts, and how much shall be made of them."""
    parser.add_argument("texts", nargs="*", help="files or globs with Chinese in them")
    parser.add_argument("--bytes", type=int, default=200_000_000)
    parser.add_argument("--vocab", type=int, default=16_384)
    parser.add_argument("--child", help=argparse.SUPPRESS)


def compare_kinds(options: argparse.Namespace) -> None:
    """Prints a table of the kinds."""
    core = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    texts = first_texts(options.texts, options.bytes)
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    print(f"{len(texts):,} texts, {megabytes:.1f} MB, {options.vocab:,} tokens, core {core}; MB/s")
    print(f"{'':24}{'by':16}{'training':>10}{'encoding':>10}{'bytes/token':>13}{'same':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.kinds:
            compare_kind(name, Path(folder), texts, megabytes, options)


def compare_kind(
    name: str, folder: Path, texts: Sequence[str], megabytes: float, options: argparse.Namespace
) -> None:
    """The rows of one kind: danlu, then the packages that have it."""
    settings = TokenizerSettings(**KINDS[name], vocab_size=options.vocab)
    # Compiles what is to be compiled.
    train_tokenizer(
        settings.model_copy(update={"vocab_size": 400}),
        lambda: iter(["a few words, a few more\n" * 9]),
        folder,
    )
    training: dict[str, Work] = {"danlu": partial(train_tokenizer, settings, lambda: iter(texts), folder)}
    training |= trainers_of_peers(settings, texts)
    trained = in_turn(training, options.rounds)
    encoding = encoders(settings, folder, texts)
    # The first call of danlu's also compares what speeds it up with `tokenizers`.
    ids = {by: work() for by, work in encoding.items()}
    flat = {by: [number for document in documents for number in document] for by, documents in ids.items()}
    encoded = in_turn(encoding, options.rounds)
    for by in dict.fromkeys([*training, *encoding]):
        rates = [f"{megabytes / table[by]:.2f}" if by in table else "-" for table in (trained, encoded)]
        tokens = f"{megabytes * 1e6 / len(flat[by]):.3f}" if by in flat else "-"
        same = str(flat[by] == flat["danlu"]) if by in flat and by != "danlu" else ""
        first = name if by == "danlu" else ""
        print(f"{first:24}{by:16}{rates[0]:>10}{rates[1]:>10}{tokens:>13}{same:>7}", flush=True)


def in_turn(works: dict[str, Work], rounds: int) -> dict[str, float]:
    """Median seconds of the processor of each."""
    spent: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            begun = time.process_time()
            work()
            spent[name].append(time.process_time() - begun)
    return {name: median(seconds) for name, seconds in spent.items()}


def trainers_of_peers(settings: TokenizerSettings, texts: Sequence[str]) -> dict[str, Work]:
    """What other packages have of a kind, by package."""
    special = {"special_tokens": list(SPECIAL_TOKENS), "vocab_size": settings.vocab_size}
    usual = special | {"min_frequency": 2, "show_progress": False}
    match settings.kind:
        case "byte_bpe":
            alphabet = pre_tokenizers.ByteLevel.alphabet()
            trainer = trainers.BpeTrainer(**usual, initial_alphabet=alphabet)
            return {"tokenizers": partial(train_peer, models.BPE(), settings, trainer, texts)}
        case "bpe":
            return {
                "tokenizers": partial(train_peer, models.BPE(), settings, trainers.BpeTrainer(**usual), texts)
            }
        case "wordpiece" if settings.score == "likelihood":
            return {}
        case "wordpiece":
            trainer = trainers.WordPieceTrainer(**usual)
            return {
                "tokenizers": partial(train_peer, models.WordPiece(unk_token=UNK), settings, trainer, texts)
            }
        case "unigram":
            trainer = trainers.UnigramTrainer(**special, show_progress=False)
            return {"tokenizers": partial(train_peer, models.Unigram(), settings, trainer, texts)}
    return {"sentencepiece": partial(train_sentencepiece, settings, texts)}


def train_peer(model: Any, settings: TokenizerSettings, trainer: Any, texts: Sequence[str]) -> None:
    """The package's own trainer, from a new tokenizer."""
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = (
        make_word_splitter()
        if settings.kind == "wordpiece"
        else make_pretokenizer(settings.pretokenizer, byte_level=settings.kind == "byte_bpe")
    )
    tokenizer.train_from_iterator(texts, trainer)


def train_sentencepiece(settings: TokenizerSettings, texts: Sequence[str]) -> None:
    """The package's own trainer on the lines of the texts."""
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=(line for text in texts for line in text.split("\n")),
        model_writer=io.BytesIO(),
        model_type=settings.kind.removeprefix("sentencepiece_"),
        vocab_size=settings.vocab_size,
        character_coverage=settings.character_coverage,
        byte_fallback=settings.byte_fallback,
        split_digits=settings.split_digits,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        max_sentence_length=1 << 20,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
    )


def encoders(settings: TokenizerSettings, folder: Path, texts: Sequence[str]) -> dict[str, Work]:
    """Texts to ids by danlu and by each package that can use what danlu trained."""
    codec = Codec.load(folder / "tokenizer.json")
    package = Tokenizer.from_file(str(folder / "tokenizer.json"))
    package.encode_special_tokens = True
    found: dict[str, Work] = {
        "danlu": lambda: [ids[1:-1].tolist() for ids in codec.encode_documents(texts)],
        "tokenizers": lambda: [
            found.ids for found in package.encode_batch_fast(texts, add_special_tokens=False)
        ],
    }
    if settings.kind == "byte_bpe":
        ranks = byte_ranks(package)
        encoding = tiktoken.Encoding(
            "danlu", pat_str=PATTERNS[settings.pretokenizer], mergeable_ranks=ranks, special_tokens={}
        )
        found["tiktoken"] = lambda: encoding.encode_ordinary_batch(list(texts), num_threads=1)
    if settings.kind.startswith("sentencepiece"):
        processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "tokenizer.model"))
        found["sentencepiece"] = lambda: processor.encode(list(texts), num_threads=1)
    return found


def byte_ranks(tokenizer: Tokenizer) -> dict[bytes, int]:
    """The tokens of a byte-level BPE as bytes; ids are in the order of the merges."""
    symbols = sorted(pre_tokenizers.ByteLevel.alphabet())
    itself = {ord(symbol): symbol for symbol in symbols if ord(symbol) < 256}
    others = iter(symbol for symbol in symbols if ord(symbol) >= 256)
    byte_of = {itself.get(byte) or next(others): byte for byte in range(256)}
    vocab = tokenizer.get_vocab(with_added_tokens=False)
    return {
        bytes(byte_of[symbol] for symbol in token): number
        for token, number in vocab.items()
        if token not in SPECIAL_TOKENS
    }


def measure_memory(options: argparse.Namespace) -> None:
    """Prints what a process that trains on unbroken Chinese held at most; the texts lie in a file."""
    if options.child:
        train_here(Path(options.child), options.vocab)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "unbroken.txt"
        with path.open("w", encoding="utf-8") as file:
            written = sum(map(file.write, unbroken_lines(options.texts, options.bytes)))
        print(f"{written:,} characters, {path.stat().st_size / 1e6:.0f} MB in unbroken lines")
        script = Path(__file__).with_name("tokens.py")
        command = [sys.executable, str(script), "memory", "--child", str(path), "--vocab", str(options.vocab)]
        subprocess.run(command, check=True)


def unbroken_lines(paths: Sequence[str], size: int) -> Iterator[str]:
    """Lines without a space, of clauses that are each the halves of two drawn ones, so that most are new."""
    clauses = sorted({found for text in read_texts(paths) for found in HAN.findall(text)})
    if not clauses:
        raise SystemExit("there is no Chinese in these texts")
    rng = random.Random(1)
    line, characters = list[str](), 0
    while size > 0:
        one, other = rng.choices(clauses, k=2)
        line.append(one[: len(one) // 2] + other[len(other) // 2 :])
        characters += len(line[-1])
        if characters > LINE_CHARACTERS:
            text = "".join([*line, "\n"])
            yield text
            size -= len(text.encode())
            line, characters = [], 0


def train_here(path: Path, vocab_size: int) -> None:
    """Trains in this process, whose peak counts; each line is a text."""

    def texts() -> Iterator[str]:
        with path.open(encoding="utf-8") as file:
            yield from file

    before, begun = peak_bytes(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        made = train_tokenizer(TokenizerSettings(vocab_size=vocab_size), texts, Path(folder))
    print(
        f"byte_bpe, {made.vocab_size:,} tokens: peak {peak_bytes() / 1e9:.2f} GB, of which {before / 1e9:.2f} GB "
        f"before; {time.process_time() - begun:.0f} s of the processor\n{made.reason}"
    )


def first_texts(paths: Sequence[str], size: int) -> list[str]:
    """Texts up to so many bytes, in the order of the files."""
    texts = list[str]()
    for text in read_texts(paths):
        texts.append(text)
        size -= len(text.encode())
        if size <= 0:
            break
    return texts
