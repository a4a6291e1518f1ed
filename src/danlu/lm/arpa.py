"""Reads ARPA files: text with the n-grams of a back-off model, their probabilities and weights as log10.

Decides: fields are parted by spaces and tabs, `log10 probability, n words, log10 weight (0 where missing)`; `<UNK>` is
`<unk>`; probabilities above 1 are refused. Guarantees: what is malformed or not whole is refused with its line. Costs:
80 MB/s of text, with a block of it in memory.
"""

from __future__ import annotations

import gzip
import math
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.errors import InputError, MissingError
from danlu.lm.count import word_hash
from danlu.words.hashes import hash_span, join_hashes
from danlu.words.shingles import Hashes
from danlu.words.text import encode

Codes = npt.NDArray[np.uint32]

Floats = npt.NDArray[np.float32]

_BLOCK_BYTES = 1 << 22
_COUNT = re.compile(r"ngram\s+(\d+)\s*=\s*(\d+)")
MOST_ORDER = 10


class Grams(NamedTuple):
    """A block of k n-grams as hashes: joined from the last word to the first."""

    order: int
    keys: Hashes
    suffixes: Hashes
    """(k,) the keys without the first word; that of an n-gram of one word is 0"""
    values: Floats
    """(k, 2) log10 probability, log10 weight"""


def read_arpa(path: Path) -> tuple[list[int], Iterator[Grams]]:
    """How many n-grams each order has, and blocks of them, order by order.

    Raises MissingError without the file, InputError where it is not whole or not ARPA, also while blocks are read.
    """
    if not path.is_file():
        raise MissingError(f"{path} does not exist")
    lines = _Lines(path)
    counts = _header(lines)
    size = path.stat().st_size * (200 if path.suffix == ".gz" else 1)
    if sum(counts) * 4 > size:
        raise InputError(f"{path}: its header promises {sum(counts)} n-grams, which {size} bytes cannot hold")
    return counts, _sections(lines, counts)


def _header(lines: _Lines) -> list[int]:
    if (first := lines.text().strip()) != "\\data\\":
        raise lines.error(f"an ARPA file begins with \\data\\, not {first[:40]!r}")
    counts: list[int] = []
    while (line := lines.text().strip()) or not counts:
        found = _COUNT.fullmatch(line)
        if line and (found is None or int(found[1]) != len(counts) + 1):
            raise lines.error(f"expected 'ngram {len(counts) + 1}=COUNT', not {line[:40]!r}")
        if found:
            counts.append(int(found[2]))
    if len(counts) > MOST_ORDER:
        raise lines.error(f"n-grams of {len(counts)} words; at most {MOST_ORDER} are read")
    return counts


def _sections(lines: _Lines, counts: Sequence[int]) -> Iterator[Grams]:
    for order, count in enumerate(counts, 1):
        while not (line := lines.text().strip()):
            pass
        if line != f"\\{order}-grams:":
            raise lines.error(f"expected \\{order}-grams:, not {line[:40]!r}")
        while count:
            grams = lines.grams(order, count)
            count -= len(grams.keys)
            yield grams
    while not (line := lines.text().strip()):
        pass
    if line != "\\end\\":
        raise lines.error(f"expected \\end\\ after {counts[-1]} n-grams, not {line[:40]!r}")


class _Lines:
    """The lines of a file, one at a time as text or many at once as n-grams."""

    def __init__(self, path: Path) -> None:
        self.path, self.number = path, 0
        self._blocks = _blocks(path)
        self._codes = np.empty(0, np.uint32)
        self._place = 0

    def error(self, what: str) -> InputError:
        """About the last line read."""
        return InputError(f"{self.path}, line {self.number}: {what}")

    def text(self) -> str:
        """The next line."""
        self._fill()
        end = self._place + int(np.argmax(self._codes[self._place :] == ord("\n")))
        line = self._codes[self._place : end].tobytes().decode("utf-32-le")
        self._place = end + 1
        self.number += 1
        return line

    def grams(self, order: int, most: int) -> Grams:
        """The next lines as n-grams, as many as the block has and up to `most`."""
        self._fill()
        codes = self._codes[self._place :]
        marks = np.array([word_hash("<UNK>"), word_hash("<unk>")])
        most = min(most, 1 + int(np.count_nonzero(codes == ord("\n"))))
        keys, suffixes, values, used = _parse(codes, order, most, *marks)
        self._place += used
        self.number += len(keys)
        if not len(keys):
            line = self.text()
            raise self.error(f"not a probability, {order} words and a weight: {line[:60]!r}")
        return Grams(order, keys, suffixes, values)

    def _fill(self) -> None:
        if self._place == len(self._codes):
            block = next(self._blocks, None)
            if block is None:
                raise self.error("the file ends before \\end\\")
            self._codes, self._place = block, 0


def _blocks(path: Path) -> Iterator[Codes]:
    """The code points of a file in blocks of whole lines."""
    rest = b""
    try:
        with _open(path) as file:
            while more := file.read(_BLOCK_BYTES):
                lines, end, rest = (rest + more).rpartition(b"\n")
                if end:
                    yield encode((lines + end).decode())
        if rest:
            yield encode(rest.decode() + "\n")
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise InputError(f"{path} cannot be read as ARPA text: {error}") from error


def _open(path: Path) -> IO[bytes] | gzip.GzipFile:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


@njit(cache=True, nogil=True)
def _parse(
    codes: Codes, order: int, most: int, capitals: np.uint64, unknown: np.uint64
) -> tuple[Hashes, Hashes, Floats, int]:
    """The keys, suffixes and values of up to `most` lines, and how many code points they take; stops at a bad one."""
    keys = np.empty(most, np.uint64)
    suffixes = np.empty(most, np.uint64)
    values = np.empty((most, 2), np.float32)
    words = np.empty(order, np.uint64)
    place = 0
    for line in range(most):
        probability, next_place = _read_number(codes, place)
        found = 0
        while next_place >= 0 and found < order:
            begin = _skip_blanks(codes, next_place)
            next_place = begin
            while next_place < codes.size and not _ends_word(codes[next_place]):
                next_place += 1
            word = hash_span(codes, begin, next_place)
            words[found] = unknown if word == capitals else word
            found += 1
            if begin == next_place:
                next_place = -1
        backoff = 0.0
        if next_place >= 0:
            next_place = _skip_blanks(codes, next_place)
            if next_place < codes.size and codes[next_place] != 10:
                backoff, next_place = _read_number(codes, next_place)
                next_place = _skip_blanks(codes, next_place) if next_place >= 0 else -1
        wrong = next_place < 0 or next_place >= codes.size or codes[next_place] != 10
        if wrong or not probability <= 0.0 or math.isinf(probability) or not math.isfinite(backoff):
            return keys[:line], suffixes[:line], values[:line], place
        key, suffix = words[order - 1], np.uint64(0)
        for before in range(order - 2, -1, -1):
            suffix = key
            key = join_hashes(key, words[before])
        keys[line], suffixes[line] = key, suffix
        values[line, 0], values[line, 1] = probability, backoff
        place = next_place + 1
    return keys, suffixes, values, place


@njit(cache=True, nogil=True)
def _ends_word(code: np.uint32) -> bool:
    return bool(code == 32 or code == 9 or code == 10 or code == 13)


@njit(cache=True, nogil=True)
def _skip_blanks(codes: Codes, place: int) -> int:
    """Behind spaces, tabs and carriage returns."""
    while place < codes.size and codes[place] != 10 and _ends_word(codes[place]):
        place += 1
    return place


@njit(cache=True, nogil=True)
def _read_number(codes: Codes, place: int) -> tuple[float, int]:
    """A decimal number, with an exponent or without, and where it ends; -1 where there is none."""
    place = _skip_blanks(codes, place)
    sign, scale, digits, exponent = 1.0, 0, 0, np.int64(0)
    value = 0.0
    if place < codes.size and (codes[place] == 45 or codes[place] == 43):
        sign = -1.0 if codes[place] == 45 else 1.0
        place += 1
    point = False
    while place < codes.size and (48 <= codes[place] <= 57 or (codes[place] == 46 and not point)):
        if codes[place] == 46:
            point = True
        else:
            value = value * 10.0 + (np.int64(codes[place]) - 48)
            digits += 1
            scale += point
        place += 1
    if digits and place < codes.size and (codes[place] == 101 or codes[place] == 69):
        place += 1
        negative = place < codes.size and codes[place] == 45
        if place < codes.size and (codes[place] == 45 or codes[place] == 43):
            place += 1
        begin = place
        while place < codes.size and 48 <= codes[place] <= 57:
            exponent = min(exponent * 10 + np.int64(codes[place]) - 48, np.int64(1000))
            place += 1
        if place == begin:
            return 0.0, -1
        exponent = -exponent if negative else exponent
    if digits == 0 or (place < codes.size and not _ends_word(codes[place])):
        return 0.0, -1
    return sign * value * 10.0 ** (exponent - scale), place
