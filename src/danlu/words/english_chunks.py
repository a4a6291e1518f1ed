"""Cutting the chunks between spaces into words by the rules of English: the kernel of the exact splitter.

Decides as spaCy 3.8's `Tokenizer._split_affixes` and `_attach_tokens` (tokenizer.pyx) do: while something can be cut
off, look up exceptions, then cut a prefix and a suffix; what is left is an exception, an address, or cut at what
stands inside. Words fill their chunk, so a mark where each one starts is all there is to write. Costs: 30 ns a chunk
of letters, some 200 ns one with marks; linear in the length of a chunk.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.words.english_address import is_address
from danlu.words.english_affixes import infix_length, prefix_length, suffix_length
from danlu.words.english_rules import (
    ACTIVE,
    DIGIT,
    FILTER_SIZE,
    WHITE,
    Flags,
    HashTable,
    Rules,
    Tails,
    find_slot,
)
from danlu.words.hashes import Codes, hash_span

Filter = npt.NDArray[np.uint8]
Marks = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int32]

LONGEST_EXCEPTION = 16


@njit(cache=True, nogil=True)
def split_chunks(codes: Codes, rules: Rules) -> tuple[Offsets, Offsets]:
    """Starts and ends (W,) of the words of a text, before neighbours are joined."""
    flags, passes, exceptions, tails = rules.flags, rules.filter, rules.exceptions, rules.tails
    marks = np.zeros(codes.size, np.uint8)
    end = 0
    while True:
        begin = skip_white(codes, end, flags)
        if begin == codes.size:
            return collect_words(codes, flags, marks)
        end, last, others = end_of_chunk(codes, begin, flags)
        marks[begin] = 1
        if others & ACTIVE:
            has_digit = (last | others) & DIGIT != 0
            cut_chunk(codes, begin, end, flags, passes, exceptions, tails, has_digit, marks)
            continue
        core = end
        pieces = find_exception(codes, begin, end, passes, exceptions)
        if not pieces and last & ACTIVE and suffix_length(codes, begin, end, flags, tails, False):
            # The usual mark behind a word: nothing else can be cut off.
            core = end - 1
            marks[core] = 1
            pieces = find_exception(codes, begin, core, passes, exceptions)
        mark_pieces(pieces, begin, core, marks)


@njit(cache=True, nogil=True)
def skip_white(codes: Codes, position: int, flags: Flags) -> int:
    """Where the next chunk starts; the end of the text where there is none."""
    while position < codes.size and flags[codes[position]] & WHITE:
        position += 1
    return position


@njit(cache=True, nogil=True)
def end_of_chunk(codes: Codes, begin: int, flags: Flags) -> tuple[int, int, int]:
    """Where the chunk that starts at `begin` ends, the flags of its last code point, and those of any other."""
    last = flags[codes[begin]]
    others = 0
    position = begin + 1
    while position < codes.size:
        kind = flags[codes[position]]
        if kind & WHITE:
            break
        others |= last
        last = kind
        position += 1
    return position, last, others


@njit(cache=True, nogil=True)
def collect_words(codes: Codes, flags: Flags, marks: Marks) -> tuple[Offsets, Offsets]:
    """Starts and ends of the words that start at the marks and reach to the next mark or white space."""
    starts = np.empty(codes.size, np.int32)
    ends = np.empty(codes.size, np.int32)
    words = 0
    inside = False
    for position in range(codes.size):
        white = flags[codes[position]] & WHITE != 0
        if inside and (white or marks[position]):
            ends[words - 1] = position
        if white:
            inside = False
        elif marks[position]:
            starts[words] = position
            words += 1
            inside = True
    if inside:
        ends[words - 1] = codes.size
    return starts[:words].copy(), ends[:words].copy()


@njit(cache=True, nogil=True)
def cut_chunk(
    codes: Codes,
    begin: int,
    end: int,
    flags: Flags,
    passes: Filter,
    exceptions: HashTable,
    tails: Tails,
    has_digit: bool,
    marks: Marks,
) -> None:
    """Mark where words start inside the chunk [begin, end)."""
    pieces = np.int64(0)
    while begin < end:
        pieces = find_exception(codes, begin, end, passes, exceptions)
        if pieces:
            break
        prefix = prefix_length(codes, begin, end, flags)
        if prefix:
            pieces = find_exception(codes, begin + prefix, end, passes, exceptions)
            if pieces:
                begin += prefix
                marks[begin] = 1
                break
        suffix = suffix_length(codes, begin + prefix, end, flags, tails, has_digit)
        if suffix and prefix and find_exception(codes, begin, end - suffix, passes, exceptions):
            prefix = 0
        if suffix:
            end -= suffix
            marks[end] = 1
        if prefix:
            begin += prefix
            if begin < end:
                marks[begin] = 1
        if prefix == 0 and suffix == 0:
            break
    if pieces:
        mark_pieces(pieces, begin, end, marks)
    elif begin < end and not is_address(codes, begin, end, flags):
        mark_inside(codes, begin, end, flags, marks)


@njit(cache=True, nogil=True)
def mark_inside(codes: Codes, begin: int, end: int, flags: Flags, marks: Marks) -> None:
    """Mark the words that stand inside a chunk and what follows each."""
    position = begin
    while position < end:
        length = 0
        if flags[codes[position]] & ACTIVE:
            length = infix_length(codes, position, begin, end, flags)
        # What is found at the very start is passed over.
        if length and position > begin:
            marks[position] = 1
            if position + length < end:
                marks[position + length] = 1
        position += max(length, 1)


@njit(cache=True, nogil=True)
def mark_pieces(pieces: np.int64, begin: int, end: int, marks: Marks) -> None:
    """Mark the words of an exception, given as `find_exception` finds it."""
    while pieces:
        position = begin + (pieces & 255)
        if position < end:
            marks[position] = 1
        pieces = pieces >> 8


@njit(cache=True, nogil=True)
def find_exception(codes: Codes, begin: int, end: int, passes: Filter, exceptions: HashTable) -> np.int64:
    """Where the pieces of the exception [begin, end) end, 8 bits each; 0 where it is none, or empty."""
    length = end - begin
    if length < 1 or length > LONGEST_EXCEPTION:
        return np.int64(0)
    if passes[(codes[begin] * 31 + codes[end - 1] * 257 + length * 1021) % FILTER_SIZE] == 0:
        return np.int64(0)
    slot = find_slot(hash_span(codes, begin, end), exceptions)
    return np.int64(exceptions[slot, 1]) if slot >= 0 else np.int64(0)
