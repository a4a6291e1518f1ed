"""What spaCy's English splitter knows, as tables for kernels: sets of characters, units, exceptions.

Decides nothing: the data (english.toml) is that of spaCy 3.8's `lang/char_classes.py`, `lang/punctuation.py` and
`lang/en/tokenizer_exceptions.py`. spaCy itself is not needed; importing it takes seconds. Costs: 0.4 s, once a
process; 4.5 MB.
"""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.words.classes import ASSIGNED, CODE_POINTS, SPACE, table
from danlu.words.hashes import hash_span

Flags = npt.NDArray[np.uint32]
Tails = npt.NDArray[np.int64]
HashTable = npt.NDArray[np.uint64]

WHITE = 1
ICON = 1 << 1  # a word wherever it stands
MARK = 1 << 2  # cut off at both ends
OPENER = 1 << 3  # cut off at the start
LETTER = 1 << 4
UPPER = 1 << 5
LOWER = 1 << 6
QUOTE = 1 << 7
BEFORE_STOP = 1 << 8  # after it a full stop at the end is cut off
DIGIT = 1 << 9  # 0-9
DECIMAL = 1 << 10  # \d
WORD = 1 << 11  # \w
HOST = 1 << 12  # may stand in the name of a host
ACTIVE = 1 << 13  # a chunk without one is cut only if it is an exception
PATTERN_FIRST = 1 << 14  # the first token of a sequence that is joined again may start with it
PATTERN_NEXT = 1 << 15  # a later one may
PUNCTUATION = 1 << 16  # category P of Unicode
SENTENCE_MARK = 1 << 17

ACTIVE_INSIDE = "+-*^.,~–—:<>=/0123456789"
TAIL_LENGTH = 5
TAIL_KEY_BITS = 12
FILTER_SIZE = 8192


class Rules(NamedTuple):
    """The tables. A hash table is (slots, 2): the hash, 0 in an empty slot, and what it stands for."""

    flags: Flags
    """(0x110000,) what each code point is"""
    filter: npt.NDArray[np.uint8]
    """(8192,) 0 where no exception has this first code point, last code point and length"""
    exceptions: HashTable
    """by hash of the span: where its pieces end, counted from its start, 8 bits each, the first one lowest"""
    sequences: HashTable
    """by hash of the words that become an exception when joined, and of their beginnings: 1 where they are all"""
    tails: Tails
    """keys of what is cut off behind a digit, see `tail_key`"""


def parse_ranges(listing: str) -> Iterator[range]:
    """Ranges of code points written as `61-7a df 101-137/2`."""
    for item in listing.split():
        span, _, step = item.partition("/")
        first, _, last = span.partition("-")
        yield range(int(first, 16), int(last or first, 16) + 1, int(step or 1))


def tail_key(tail: str) -> int:
    """A number for each unit: 1, then its code points from the last to the first, 12 bits each."""
    key = 1
    for character in reversed(tail):
        key = (key << TAIL_KEY_BITS) + ord(character)
    return key


@cache
def read_data() -> dict[str, str]:
    """The tables as they are written, by name."""
    return tomllib.loads(files("danlu.words").joinpath("english.toml").read_text(encoding="utf-8"))


def read_exceptions() -> list[list[str]]:
    """The pieces of each exception; those with an apostrophe are there with the curly one too."""
    data = read_data()
    exceptions = [[chunk] for chunk in data["whole"].split()]
    exceptions += [chunk.split("|") for chunk in data["parts"].split()]
    curly = [[piece.replace("'", "’") for piece in pieces] for pieces in exceptions]
    return exceptions + [new for new, old in zip(curly, exceptions, strict=True) if new != old]


def build_flags(data: dict[str, str]) -> Flags:
    """(0x110000,) uint32, without those that come from the exceptions."""
    flags = np.zeros(CODE_POINTS, np.uint32)

    def add(flag: int, ranges: Iterable[range]) -> None:
        for codes in ranges:
            flags[codes.start : codes.stop : codes.step] |= np.uint32(flag)

    add(LETTER | LOWER | UPPER | BEFORE_STOP, parse_ranges(data["uncased"]))
    add(LETTER | LOWER | BEFORE_STOP, parse_ranges(data["lower"]))
    add(LETTER | UPPER, parse_ranges(data["upper"]))
    add(LETTER, parse_ranges(data["caseless"]))
    add(ICON | ACTIVE, parse_ranges(data["icons"]))
    add(MARK | ACTIVE, parse_ranges(data["marks"]))
    add(OPENER | ACTIVE, parse_ranges(data["openers"]))
    add(QUOTE, parse_ranges(data["quotes"]))
    add(BEFORE_STOP, parse_ranges(data["before_full_stop"]))
    add(SENTENCE_MARK, parse_ranges(data["sentence_marks"]))
    add(ACTIVE, (range(ord(mark), ord(mark) + 1) for mark in ACTIVE_INSIDE))
    add(DIGIT, (range(0x30, 0x3A),))
    add(HOST, parse_ranges("30-39 41-5a 61-7a a1-ffff"))
    flags |= (table() & SPACE != 0) * np.uint32(WHITE)
    characters = list(map(chr, range(ASSIGNED)))
    word = np.fromiter(map(str.isalnum, characters), np.bool_, ASSIGNED)
    word[ord("_")] = True
    flags[:ASSIGNED] |= word * np.uint32(WORD)
    flags[:ASSIGNED] |= np.fromiter(map(str.isdecimal, characters), np.bool_, ASSIGNED) * np.uint32(DECIMAL)
    punctuation = [category[0] == "P" for category in map(unicodedata.category, characters)]
    flags[:ASSIGNED] |= np.array(punctuation) * np.uint32(PUNCTUATION)
    return flags


def filter_slot(first: int, last: int, length: int) -> int:
    """Where the filter holds whether an exception looks like this."""
    return (first * 31 + last * 257 + length * 1021) % FILTER_SIZE


def hash_table(entries: Mapping[int, int]) -> HashTable:
    """Hashes and what they stand for by open addressing, at most a quarter full."""
    size = 1 << (4 * len(entries)).bit_length()
    slots = np.zeros((size, 2), np.uint64)
    for value, meaning in entries.items():
        slot = value & (size - 1)
        while slots[slot, 0]:
            slot = (slot + 1) & (size - 1)
        slots[slot] = value, meaning
    return slots


@njit(cache=True, nogil=True)
def find_slot(value: np.uint64, slots: HashTable) -> np.int64:
    """The slot of a hash; -1 where it is not in the table."""
    mask = slots.shape[0] - 1
    slot = np.int64(value & np.uint64(mask))
    while slots[slot, 0] != 0:
        if slots[slot, 0] == value:
            return slot
        slot = (slot + 1) & mask
    return np.int64(-1)


def read_rules() -> Rules:
    """The tables without the sequences of words, which only the splitter itself can make."""
    data = read_data()
    passes = np.zeros(FILTER_SIZE, np.uint8)
    exceptions = {}
    for pieces in read_exceptions():
        chunk = "".join(pieces)
        codes = np.array([chunk]).view(np.uint32)
        ends = accumulate(map(len, pieces))
        exceptions[int(hash_span(codes, 0, len(chunk)))] = sum(
            end << 8 * place for place, end in enumerate(ends)
        )
        passes[filter_slot(ord(chunk[0]), ord(chunk[-1]), len(chunk))] = 1
    return Rules(
        flags=build_flags(data),
        filter=passes,
        exceptions=hash_table(exceptions),
        sequences=np.zeros((1, 2), np.uint64),
        tails=np.array([tail_key(tail) for tail in data["tails"].split()], np.int64),
    )
