"""The rules for what is cut off a chunk of English: prefixes, suffixes and what stands inside, as kernels.

Decides the same as the regular expressions of spaCy 3.8 (`lang/punctuation.py`, `lang/en/punctuation.py`): a prefix
is the first alternative that fits, a suffix the longest, because every alternative must reach the end. Lookarounds
see the remaining chunk alone. Costs: a look-up of a few code points a call; nothing backtracks.
"""

from __future__ import annotations

from numba import njit

from danlu.words.english_rules import (
    BEFORE_STOP,
    DIGIT,
    ICON,
    LETTER,
    LOWER,
    MARK,
    OPENER,
    QUOTE,
    TAIL_KEY_BITS,
    TAIL_LENGTH,
    UPPER,
    Flags,
    Tails,
)
from danlu.words.hashes import Codes

# Numba reads a global number as a constant.
PLUS, COMMA, MINUS, STOP = 0x2B, 0x2C, 0x2D, 0x2E
ASTERISK, CARET, TILDE, DOLLAR, APOSTROPHE = 0x2A, 0x5E, 0x7E, 0x24, 0x27
DEGREE, EN_DASH, EM_DASH, CURLY, ELLIPSIS = 0xB0, 0x2013, 0x2014, 0x2019, 0x2026
COLON, SLASH, LESS, EQUALS, GREATER = 0x3A, 0x2F, 0x3C, 0x3D, 0x3E
LETTER_A, LETTER_C, LETTER_S, LETTER_U, SMALL_S = 0x41, 0x43, 0x53, 0x55, 0x73
SCALES = (0x43, 0x46, 0x4B, 0x63, 0x66, 0x6B)
"""C, F and K of degrees."""


@njit(cache=True, nogil=True)
def dots_from(codes: Codes, begin: int, end: int) -> int:
    """How many full stops follow one another from `begin`."""
    position = begin
    while position < end and codes[position] == STOP:
        position += 1
    return position - begin


@njit(cache=True, nogil=True)
def prefix_length(codes: Codes, begin: int, end: int, flags: Flags) -> int:
    """Code points to cut off at the start; 0 for none."""
    first = codes[begin]
    if flags[first] & (ICON | MARK | OPENER):
        return 1
    if first == STOP:
        dots = dots_from(codes, begin, end)
        return dots if dots > 1 else 0
    following = codes[begin + 1] if begin + 1 < end else 0
    if first == PLUS:
        return 0 if flags[following] & DIGIT else 1
    if first in (LETTER_A, LETTER_C) and following == DOLLAR:
        return 2
    if first == LETTER_U and following == LETTER_S and begin + 2 < end and codes[begin + 2] == DOLLAR:
        return 3
    return 0


@njit(cache=True, nogil=True)
def suffix_length(codes: Codes, begin: int, end: int, flags: Flags, tails: Tails, has_digit: bool) -> int:
    """Code points to cut off at the end; 0 for none. `has_digit`: the chunk holds an ASCII digit somewhere."""
    if begin >= end:
        return 0
    last = codes[end - 1]
    previous = codes[end - 2] if end - 1 > begin else 0
    if last == STOP:
        return stop_length(codes, begin, end, flags)
    if last == ELLIPSIS and previous == ELLIPSIS:
        return 2
    if last in (SMALL_S, LETTER_S) and previous in (APOSTROPHE, CURLY):
        return 2
    if has_digit:
        length = tail_length(codes, begin, end, flags, tails)
        if length:
            return length
    return 1 if flags[last] & (ICON | MARK) else 0


@njit(cache=True, nogil=True)
def stop_length(codes: Codes, begin: int, end: int, flags: Flags) -> int:
    """The full stops at the end that are cut off: two and more always, one alone after certain code points."""
    position = end
    while position > begin and codes[position - 1] == STOP:
        position -= 1
    if end - position > 1:
        return end - position
    if position == begin:
        return 0
    before = codes[position - 1]
    if flags[before] & BEFORE_STOP:
        return 1
    if position - 1 == begin:
        return 0
    second = codes[position - 2]
    capitals = flags[before] & UPPER and flags[second] & UPPER
    return 1 if capitals or (second == DEGREE and before in SCALES) else 0


@njit(cache=True, nogil=True)
def tail_length(codes: Codes, begin: int, end: int, flags: Flags, tails: Tails) -> int:
    """The unit, currency or plus behind the last digit; 0 where what stands there is none."""
    position = end - 1
    key = 1
    wide = 0
    while position >= begin and not flags[codes[position]] & DIGIT:
        if end - position > TAIL_LENGTH:
            return 0
        key = (key << TAIL_KEY_BITS) + codes[position]
        wide |= codes[position] >> TAIL_KEY_BITS
        position -= 1
    length = end - 1 - position
    # Only signs that stand alone have more than 12 bits.
    if position < begin or length == 0 or (wide and length > 1):
        return 0
    for tail in tails:
        if tail == key:
            return length
    return 0


@njit(cache=True, nogil=True)
def infix_length(codes: Codes, position: int, begin: int, end: int, flags: Flags) -> int:
    """Code points of the word that starts inside the chunk [begin, end) at `position`; 0 where none does."""
    code = codes[position]
    if flags[code] & ICON:
        return 1
    if code == STOP:
        dots = dots_from(codes, position, end)
        if dots > 1:
            return dots
    if position == begin or position + 1 == end:
        return 0
    before = flags[codes[position - 1]]
    after = flags[codes[position + 1]]
    if code == STOP:
        return 1 if before & (LOWER | QUOTE) and after & (UPPER | QUOTE) else 0
    if code == COMMA:
        return 1 if before & LETTER and after & LETTER else 0
    numeric = before & DIGIT and (after & DIGIT or codes[position + 1] == MINUS)
    if numeric and code in (PLUS, MINUS, ASTERISK, CARET):
        return 1
    if not before & (LETTER | DIGIT):
        return 0
    if code in (COLON, SLASH, LESS, EQUALS, GREATER, EN_DASH, TILDE):
        return 1 if after & LETTER else 0
    if code in (MINUS, EM_DASH):
        return dash_length(codes, position, end, flags)
    return 0


@njit(cache=True, nogil=True)
def dash_length(codes: Codes, position: int, end: int, flags: Flags) -> int:
    """One to three hyphens, or one or two em dashes, if a letter follows."""
    longest = 3 if codes[position] == MINUS else 2
    for length in range(1, longest + 1):
        if position + length >= end:
            return 0
        following = codes[position + length]
        if flags[following] & LETTER:
            return length
        if following != codes[position]:
            return 0
    return 0
