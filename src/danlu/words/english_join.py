"""Joining neighbouring words that spell an exception: what was cut too far becomes one again.

Decides as spaCy 3.8's `Tokenizer._apply_special_cases` (tokenizer.pyx): of all sequences of words that look like an
exception, the longest come first, then the leftmost; one that touches a word seen before is left out. A sequence
across a space is no exception, but still hides what it touches. Costs: two look-ups a word where nothing matches.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from danlu.words.english_chunks import Filter, Marks, Offsets, collect_words, find_exception, mark_pieces
from danlu.words.english_rules import PATTERN_FIRST, PATTERN_NEXT, Flags, HashTable, Rules, find_slot
from danlu.words.hashes import Codes, hash_span, join_hashes

SPACE_CODE = 0x20
MOST_WORDS = 16
"""No exception is cut into more words."""


@njit(cache=True, nogil=True)
def join_exceptions(codes: Codes, starts: Offsets, ends: Offsets, rules: Rules) -> tuple[Offsets, Offsets]:
    """The words of a text with the exceptions whole; the same arrays where there are none."""
    sequences = find_sequences(codes, starts, ends, rules.flags, rules.sequences)
    if sequences.shape[0] == 0:
        return starts, ends
    marks = np.zeros(codes.size, np.uint8)
    for word in range(starts.size):
        marks[starts[word]] = 1
    mark_sequences(codes, starts, ends, sequences, rules.filter, rules.exceptions, marks)
    return collect_words(codes, rules.flags, marks)


@njit(cache=True, nogil=True)
def find_sequences(codes: Codes, starts: Offsets, ends: Offsets, flags: Flags, known: HashTable) -> Offsets:
    """(M, 2) first and last word of every sequence that looks like an exception, by first word, short before long."""
    found = [(0, 0) for _ in range(0)]
    for word in range(starts.size - 1):
        if not flags[codes[starts[word]]] & PATTERN_FIRST:
            continue
        following = word + 1
        value = np.uint64(0)
        slot = np.int64(0)
        while following < starts.size and follows(codes, ends[following - 1], starts[following], flags):
            if following == word + 1:
                value = hash_span(codes, starts[word], ends[word])
                if find_slot(value, known) < 0:
                    break
            value = join_hashes(value, hash_span(codes, starts[following], ends[following]))
            slot = find_slot(value, known)
            if slot < 0:
                break
            if known[slot, 1]:
                found.append((word, following))
            following += 1
    sequences = np.empty((len(found), 2), np.int32)
    for row in range(len(found)):
        sequences[row, 0], sequences[row, 1] = found[row]
    return sequences


@njit(cache=True, nogil=True)
def follows(codes: Codes, end: int, start: int, flags: Flags) -> bool:
    """Whether a word stands right behind another or one space on, and may go on a sequence."""
    if not flags[codes[start]] & PATTERN_NEXT:
        return False
    # Any other white space is a word of its own to the matcher.
    return start == end or (start == end + 1 and codes[end] == SPACE_CODE)


@njit(cache=True, nogil=True)
def mark_sequences(
    codes: Codes,
    starts: Offsets,
    ends: Offsets,
    sequences: Offsets,
    passes: Filter,
    exceptions: HashTable,
    marks: Marks,
) -> None:
    """Choose among the sequences, and move the marks of those chosen to the pieces of their exceptions."""
    seen = np.zeros(starts.size, np.uint8)
    for length in range(MOST_WORDS, 1, -1):
        for row in range(sequences.shape[0]):
            first, last = sequences[row, 0], sequences[row, 1]
            if last - first + 1 != length:
                continue
            if not seen[first] and not seen[last]:
                begin, end = starts[first], ends[last]
                # A space inside makes it another text, which is no exception.
                pieces = find_exception(codes, begin, end, passes, exceptions)
                if pieces:
                    marks[begin + 1 : end] = 0
                    mark_pieces(pieces, begin, end, marks)
            seen[first : last + 1] = 1
