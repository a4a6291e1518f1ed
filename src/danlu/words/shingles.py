"""Words in the form in which copies are compared: simplified text, and hashes of words and of runs of words.

Decides: `simplify` is datatrove 0.10.1's `simplify_text` with its defaults (`utils/text.py`): small letters, numbers
as 0, punctuation as space, white space collapsed, then canonical decomposition without nonspacing marks. What is a
digit or a mark is as Python's own Unicode has it. Costs: some 100 MB/s; the tables 0.2 s, once a process.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.words.classes import ASSIGNED, CODE_POINTS, PUNCTUATION_MARKS, SPACE, table
from danlu.words.hashes import STEP, Codes, hash_span, mix
from danlu.words.text import Words, encode

Hashes = npt.NDArray[np.uint64]

DECIMAL_SEPARATORS = ".,،٫⎖⎗⎘"
VARIATION_SELECTORS = range(0xE0100, 0xE01F0)
ORDINARY, BLANK, DIGIT, DECOMPOSED, NONSPACING = 0, 1, 2, 3, 4
KIND = 7
SEPARATOR = 8  # may stand inside a number
COMBINING = 16  # a mark that stays, but may change places with its neighbours
MOST_PIECES = 3
"""Of a decomposition without nonspacing marks: a syllable of Hangul."""
ZERO, SPACE_CODE = 0x30, 0x20


class Simplifier(NamedTuple):
    """What becomes of each code point. P code points of decompositions in all."""

    kinds: npt.NDArray[np.uint8]
    """(0x110000,) the kind, and flags"""
    starts: npt.NDArray[np.int32]
    """(0x34001,) where the decomposition of each code point starts in `codes`"""
    codes: Codes
    """(P,) decompositions without nonspacing marks, one after the other"""


def simplify(text: str) -> str:
    """A text in small letters without numbers, punctuation and accents, with one space between words."""
    codes = encode(text.lower())
    simple, reorders = simplify_codes(codes, simplifier(), True)
    if reorders:
        # Several marks that stay on one letter change places, if at all, among those that do not.
        simple, _ = simplify_codes(codes, simplifier(), False)
        return without_marks(unicodedata.normalize("NFD", decode(simple))).strip()
    return decode(simple).strip()


def without_marks(text: str) -> str:
    """A text without nonspacing marks."""
    return "".join(character for character in text if unicodedata.category(character) != "Mn")


def decode(codes: Codes) -> str:
    """The text of code points, none of which is NUL."""
    return str(codes.view(f"<U{codes.size}")[0]) if codes.size else ""


@cache
def simplifier() -> Simplifier:
    """The tables of `simplify`."""
    kinds = np.full(CODE_POINTS, ORDINARY, np.uint8)
    characters = list(map(chr, range(1, ASSIGNED)))
    decomposed = [""] * ASSIGNED
    for code, character in enumerate(characters, 1):
        pieces = unicodedata.normalize("NFD", character)
        if character != pieces:
            decomposed[code] = without_marks(pieces)
            kinds[code] = DECOMPOSED
    for code, category in enumerate(map(unicodedata.category, characters), 1):
        if category == "Mn":
            kinds[code] = NONSPACING
            decomposed[code] = ""
        elif category == "Mc" and unicodedata.combining(chr(code)):
            kinds[code] |= COMBINING
    kinds[VARIATION_SELECTORS.start : VARIATION_SELECTORS.stop] = NONSPACING
    kinds[[ord(mark) for mark in PUNCTUATION_MARKS]] = BLANK
    kinds[table() & SPACE != 0] = BLANK
    kinds[1:ASSIGNED][np.fromiter(map(str.isdecimal, characters), np.bool_, ASSIGNED - 1)] = DIGIT
    kinds[[ord(mark) for mark in DECIMAL_SEPARATORS]] |= SEPARATOR
    starts = np.array([0, *accumulate(map(len, decomposed))], np.int32)
    return Simplifier(kinds, starts, encode("".join(decomposed)))


@njit(cache=True, nogil=True)
def simplify_codes(codes: Codes, tables: Simplifier, decompose: bool) -> tuple[Codes, bool]:
    """Small letters simplified, and whether marks that stay may have to change places."""
    kinds, starts, decompositions = tables.kinds, tables.starts, tables.codes
    simple = np.empty(codes.size * MOST_PIECES, np.uint32)
    size = 0
    reorders = False
    started = blank = combining = False
    position = 0
    while position < codes.size:
        code = codes[position]
        flags = kinds[code]
        kind = flags & KIND
        if kind == BLANK:
            blank = True
            position += 1
            continue
        if blank and started:
            simple[size] = SPACE_CODE
            size += 1
            combining = False
        blank = False
        started = True
        if kind == DIGIT:
            position = after_number(codes, position, kinds)
            simple[size] = ZERO
            size += 1
            combining = False
            continue
        position += 1
        if decompose and kind == NONSPACING:
            continue
        if decompose and kind == DECOMPOSED:
            for place in range(starts[code], starts[code + 1]):
                piece = decompositions[place]
                simple[size] = piece
                size += 1
                marks = kinds[piece] & COMBINING != 0
                reorders |= marks and combining
                combining = marks
            continue
        simple[size] = code
        size += 1
        marks = flags & COMBINING != 0
        reorders |= marks and combining
        combining = marks
    return simple[:size].copy(), reorders


@njit(cache=True, nogil=True)
def after_number(codes: Codes, position: int, kinds: npt.NDArray[np.uint8]) -> int:
    """Where the number that starts at `position` ends: digits, and digits again behind one separator."""
    while position < codes.size and kinds[codes[position]] & KIND == DIGIT:
        position += 1
    if position + 1 >= codes.size or not kinds[codes[position]] & SEPARATOR:
        return position
    if kinds[codes[position + 1]] & KIND != DIGIT:
        return position
    position += 1
    while position < codes.size and kinds[codes[position]] & KIND == DIGIT:
        position += 1
    return position


def word_hashes(codes: Codes, words: Words) -> Hashes:
    """(W,) the hash of each word."""
    return hash_words(codes, words.starts, words.ends)


@njit(cache=True, nogil=True)
def hash_words(codes: Codes, starts: npt.NDArray[np.int32], ends: npt.NDArray[np.int32]) -> Hashes:
    """(W,) the hashes of the spans from `starts` to `ends`."""
    hashes = np.empty(starts.size, np.uint64)
    for word in range(starts.size):
        hashes[word] = hash_span(codes, starts[word], ends[word])
    return hashes


@njit(cache=True, nogil=True)
def ngram_hashes(hashes: Hashes, n: int) -> Hashes:
    """(W - n + 1,) the hash of each run of `n` words, whose order counts; none where there are fewer words."""
    runs = np.empty(max(hashes.size - n + 1, 0), np.uint64)
    if runs.size == 0:
        return runs
    # A polynomial of the word hashes, so that sliding on by a word costs the same for every n.
    value = np.uint64(0)
    highest = np.uint64(1)
    for word in range(n):
        value = value * STEP + hashes[word]
        if word:
            highest *= STEP
    runs[0] = mix(value)
    for run in range(1, runs.size):
        value = (value - hashes[run - 1] * highest) * STEP + hashes[run + n - 1]
        runs[run] = mix(value)
    return runs
