"""Measures tokenizers side by side: bytes a token, fertility, unknown rate, texts that come back, encoding speed.

Decides: fertility is tokens a word (Rust et al. 2021), a word being a run of letters and digits, each Chinese character
and kana one of its own; speed is that of what builds shards, MB of UTF-8 by second of processor time, over all threads.
Two baselines stand beside: a token a character, and a token a word or punctuation mark, each with the vocabulary of the
other half of the texts, as large as the largest that is measured. Costs: the texts are held in memory and encoded and
decoded once a tokenizer.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Protocol

from tokenizers import Tokenizer

from danlu.errors import InputError
from danlu.rng import hash_text
from danlu.tokenizer.codec import PROBES, Codec, unknown_id
from danlu.tokenizer.encoder import Encoder

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_WORD_OR_SIGN = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|[^\w\s]")
_BATCH = 256


@dataclass(frozen=True)
class Labelled:
    """A text to measure on, with its domain and its language; "" for one that nobody has told."""

    text: str
    domain: str
    language: str


@dataclass
class Figures:
    """Sums over texts; the rates are their quotients, NaN where there is nothing to divide by."""

    texts: int = 0
    bytes: int = 0
    words: int = 0
    tokens: int = 0
    unknown: int = 0
    returned: int = 0
    """Texts that decode to themselves."""
    seconds: float = 0.0
    """Of the processor, for encoding; 0 where that says nothing."""

    def add(self, other: Figures) -> None:
        """Adds up."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def rates(self) -> dict[str, float]:
        """The figures that tokenizers are compared by, by name."""
        return {
            "bytes_per_token": _ratio(self.bytes, self.tokens),
            "fertility": _ratio(self.tokens, self.words),
            "unknown_rate": _ratio(self.unknown, self.tokens),
            "lossless_share": _ratio(self.returned, self.texts),
            "encode_mb_per_second": _ratio(self.bytes / 1e6, self.seconds),
        }


Row = tuple[Labelled, tuple[int, int]]
"""A text with its bytes and words."""


@dataclass(frozen=True)
class Comparison:
    """What one tokenizer reached: in all, by domain and by language."""

    name: str
    vocab_size: int
    total: Figures
    domains: dict[str, Figures]
    languages: dict[str, Figures]
    encoder: str = ""
    """The package that encodes with it, whose speed it is; "" for a baseline."""
    note: str = ""
    """Why danlu could not train with it, where that is so."""


class Reader(Protocol):
    """What is measured."""

    name: str
    vocab_size: int
    note: str

    @property
    def encoder(self) -> str:
        """See Comparison."""

    def read(self, texts: Sequence[str]) -> tuple[list[Figures], float]:
        """Tokens, unknown ones and whether it came back, of each text; and the seconds that encoding took."""


def compare(texts: Sequence[Labelled], readers: Iterable[Reader]) -> list[Comparison]:
    """Measures each on the same texts, then the two baselines. Raises InputError where there is no text."""
    if not texts:
        raise InputError("there is no text to measure tokenizers on; name some with --text")
    sizes = [(len(item.text.encode()), len(_WORD.findall(item.text))) for item in texts]
    measured = [_measure(texts, sizes, reader) for reader in readers]
    most = max((comparison.vocab_size for comparison in measured), default=0)
    for name, split in (("characters (baseline)", list), ("words (baseline)", _WORD_OR_SIGN.findall)):
        measured.append(_measure(texts, sizes, _Baseline(name, split, texts, most)))
    return measured


class TokenizerFile:
    """A tokenizer of a file, also one that danlu would not train with."""

    def __init__(self, data: bytes, name: str) -> None:
        """`data` are the bytes of a tokenizer.json. Raises InputError where they are none."""
        self.name, self.note = name, ""
        try:
            Codec.from_bytes(data, name)
        except InputError as error:
            self.note = str(error)
        try:
            description = json.loads(data)
            self._tokenizer = Tokenizer.from_buffer(data)
        except Exception as error:  # the library raises plain Exception
            raise InputError(f"{name} is not a readable tokenizer.json ({error})") from error
        self._encoder = Encoder(self._tokenizer, description, PROBES)
        self._unknown = unknown_id(description, self._tokenizer.get_vocab(with_added_tokens=False))
        self.vocab_size = max(self._tokenizer.get_vocab().values()) + 1

    @property
    def encoder(self) -> str:
        """See Comparison."""
        return self._encoder.by

    def read(self, texts: Sequence[str]) -> tuple[list[Figures], float]:
        """See Reader."""
        # Not measured: what is done once, however much text follows.
        self._encoder.compare_first(texts)
        begun = time.process_time()
        encoded = self._encoder.encode(texts)
        seconds = time.process_time() - begun
        ids = [numbers.tolist() for numbers in encoded]
        decoded = self._tokenizer.decode_batch(ids, skip_special_tokens=True)
        return [
            Figures(
                tokens=len(numbers),
                unknown=0 if self._unknown is None else numbers.count(self._unknown),
                returned=int(back == text),
            )
            for numbers, back, text in zip(ids, decoded, texts, strict=True)
        ], seconds


class _Baseline:
    """Every part of a text is a token, known where it is among the most frequent of the other half of the texts."""

    note = encoder = ""

    def __init__(
        self, name: str, split: Callable[[str], list[str]], texts: Sequence[Labelled], most: int
    ) -> None:
        self.name, self._split = name, split
        counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        for item in texts:
            counts[_half(item.text)].update(split(item.text))
        self._known = [
            {part for part, _ in sorted(half.items(), key=lambda pair: (-pair[1], pair[0]))[: most or None]}
            for half in counts
        ]
        self.vocab_size = max(map(len, self._known))

    def read(self, texts: Sequence[str]) -> tuple[list[Figures], float]:
        """See Reader; the seconds are 0, since this is no encoder."""
        figures = []
        for text in texts:
            known, parts = self._known[1 - _half(text)], self._split(text)
            unknown = sum(part not in known for part in parts)
            back = not unknown and "".join(parts) == text
            figures.append(Figures(tokens=len(parts), unknown=unknown, returned=int(back)))
        return figures, 0.0


def _measure(texts: Sequence[Labelled], sizes: Sequence[tuple[int, int]], reader: Reader) -> Comparison:
    total, domains, languages = Figures(), dict[str, Figures](), dict[str, Figures]()
    rows = sorted(zip(texts, sizes, strict=True), key=lambda row: (row[0].domain, row[0].language))
    # A batch is of one group, so that its seconds are the group's.
    for (domain, language), group in groupby(rows, lambda row: (row[0].domain, row[0].language)):
        for batch in _batches(group, _BATCH):
            figures, seconds = reader.read([item.text for item, _ in batch])
            figures.append(Figures(seconds=seconds))
            for one, (_, (size, words)) in zip(figures, batch, strict=False):
                one.texts, one.bytes, one.words = 1, size, words
            for one in figures:
                total.add(one)
                domains.setdefault(domain, Figures()).add(one)
                languages.setdefault(language or "not told", Figures()).add(one)
    # Asked afterwards: what encodes is chosen at the first texts, and may be left.
    return Comparison(reader.name, reader.vocab_size, total, domains, languages, reader.encoder, reader.note)


def _batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    rows = iter(rows)
    while batch := list(islice(rows, size)):
        yield batch


def _half(text: str) -> int:
    return hash_text(text, 0) & 1


def _ratio(a: float, b: float) -> float:
    return a / b if b else float("nan")
