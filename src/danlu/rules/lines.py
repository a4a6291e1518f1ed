"""Lines as `str.splitlines` has them: where they end, what is left without white space and citations, their words.

Guarantees: linear in characters. Costs: 1-2 ns a character each.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.words.classes import DIGIT, LINE_BREAK, SPACE, table

Codes = npt.NDArray[np.uint32]
Flags = npt.NDArray[np.uint8]
Marks = npt.NDArray[np.bool_]

LINE_FEED = 0x0A
RETURN = 0x0D
DOT = 0x2E
OPENING, CLOSING, CURLY = ord("["), ord("]"), ord("{")
EDIT = np.array([ord(letter) for letter in "edit]"], np.uint32)
NEEDED = np.array([ord(letter) for letter in "citation needed]"], np.uint32)


@cache
def other_digits() -> Codes:
    """Code points that `str.isdigit` takes and a pattern's `\\d` does not: superscripts, circled digits."""
    digits = np.flatnonzero(table() & DIGIT)
    return np.array([code for code in digits.tolist() if not chr(code).isdecimal()], np.uint32)


@njit(cache=True, nogil=True)
def line_end(codes: Codes, flags: Flags, start: int) -> int:
    """Where the line that begins at `start` ends, before its line break."""
    end = start
    while end < codes.size and not flags[codes[end]] & LINE_BREAK:
        end += 1
    return end


@njit(cache=True, nogil=True)
def next_line(codes: Codes, end: int) -> int:
    """Where the line after a line break begins; CR LF is one break."""
    if end + 1 < codes.size and codes[end] == RETURN and codes[end + 1] == LINE_FEED:
        return end + 2
    return end + 1


@njit(cache=True, nogil=True)
def strip_span(codes: Codes, flags: Flags, start: int, end: int) -> tuple[int, int]:
    """The span without white space at its ends."""
    while start < end and flags[codes[start]] & SPACE:
        start += 1
    while end > start and flags[codes[end - 1]] & SPACE:
        end -= 1
    return start, end


@njit(cache=True, nogil=True)
def ends_in_dots(codes: Codes, start: int, end: int) -> bool:
    """Whether the span ends with three full stops."""
    return end - start >= 3 and codes[end - 1] == DOT and codes[end - 2] == DOT and codes[end - 3] == DOT


@njit(cache=True, nogil=True)
def measure_words(codes: Codes, flags: Flags, start: int, end: int) -> tuple[int, int]:
    """Words between white space, and the characters of the longest."""
    words = 0
    longest = 0
    length = 0
    for position in range(start, end):
        if flags[codes[position]] & SPACE:
            length = 0
        else:
            words += length == 0
            length += 1
            longest = max(longest, length)
    return words, longest


@njit(cache=True, nogil=True)
def copy_line(
    codes: Codes,
    flags: Flags,
    other_digits: Codes,
    formula: Marks,
    start: int,
    end: int,
    remove_citations: bool,
    output: Codes,
    begin: int,
) -> tuple[int, bool]:
    """Copies a span to `begin` of the output, without its citations if these are to go.

    `formula` (N,) marks what is in formulae; empty: nothing is. Returns where the copy ends, and whether it has a
    curly bracket outside of formulae.
    """
    has_curly = False
    position = start
    while position < end:
        code = codes[position]
        if code == OPENING or code == CURLY:  # noqa: SIM109 (a tuple would be boxed)
            in_formula = formula.size > 0 and formula[position]
            if code == CURLY:
                has_curly |= not in_formula
            elif remove_citations and not in_formula:
                skipped = _citation_length(codes, flags, other_digits, position, end)
                position += skipped
                if skipped:
                    continue
        output[begin] = code
        begin += 1
        position += 1
    return begin, has_curly


@njit(cache=True, nogil=True)
def _citation_length(codes: Codes, flags: Flags, other_digits: Codes, opening: int, end: int) -> int:
    """Code points of `[`, decimal digits of any script, `]`, or of one of the two phrases; 0 where it is none."""
    position = opening + 1
    while position < end and _is_decimal(codes[position], flags, other_digits):
        position += 1
    if position < end and codes[position] == CLOSING:
        return position + 1 - opening
    if _begins_with(codes, opening + 1, end, EDIT):
        return 1 + EDIT.size
    return 1 + NEEDED.size if _begins_with(codes, opening + 1, end, NEEDED) else 0


@njit(cache=True, nogil=True)
def _is_decimal(code: int, flags: Flags, other_digits: Codes) -> bool:
    if not flags[code] & DIGIT:
        return False
    place = 0
    while place < other_digits.size and other_digits[place] != code:
        place += 1
    return place == other_digits.size


@njit(cache=True, nogil=True)
def _begins_with(codes: Codes, start: int, end: int, phrase: Codes) -> bool:
    same = 0
    while same < phrase.size and start + same < end and codes[start + same] == phrase[same]:
        same += 1
    return same == phrase.size
