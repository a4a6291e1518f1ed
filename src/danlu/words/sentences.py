"""Where sentences end, and how many each line or other span has.

Decides: with words of "spacy", as spaCy 3.8's sentencizer on blank English does (`pipeline/sentencizer.pyx`): a
sentence ends before the first word behind a mark that is no punctuation. With any other words: behind one of the 159
terminal marks, and the quotes and brackets that close there, if white space follows; the full stops of scripts
without spaces need none. Guarantees: the pieces between the ends make up the text, and there is at least one, as in
datatrove 0.10.1's `split_into_sentences`. Costs: some 200 MB/s, besides the words.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.words.classes import SPACE, TERMINAL, table
from danlu.words.english_rules import PUNCTUATION, SENTENCE_MARK
from danlu.words.english_rules import Flags as EnglishFlags
from danlu.words.hashes import Codes
from danlu.words.spacy_english import rules_of_english
from danlu.words.text import Text

Flags = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int32]

CLOSERS = "\"')]}’”»›〉》」』】〕）］｝"
WIDE_MARKS = "。！？｡"
INNER, WHITE, MARK, WIDE, CLOSER = 0, 1, 2, 3, 4
SPACE_CODE = 32


def sentence_ends(text: Text) -> Offsets:
    """(S,) code point offsets where the sentences end, S >= 1; the last one is the length of the text."""
    ends = np.empty(text.codes.size + 1, np.int32)
    if text.splitter == "spacy":
        words = text.words
        flags = rules_of_english().flags
        found = end_exactly(text.codes, *words, 0, words.starts.size, text.codes.size, flags, ends)
    else:
        found = end_plainly(text.codes, 0, text.codes.size, kinds(), ends)
    return ends[:found].copy()


def count_span_sentences(text: Text, begins: Offsets, ends: Offsets) -> Offsets:
    """(L,) how many sentences each span of a text has by itself; an empty one has one.

    The spans are in order and whole lines, or pieces between white space: no word crosses their ends. White space at
    the ends of a span is part of it: the sentencizer takes two spaces behind a full stop for another sentence.
    """
    if text.splitter == "spacy":
        return count_exactly(text.codes, *text.words, begins, ends, rules_of_english().flags)
    return count_plainly(text.codes, begins, ends, kinds())


@cache
def kinds() -> Flags:
    """(0x110000,) what each code point is to the plain rule."""
    flags = table()
    kinds = np.full(flags.size, INNER, np.uint8)
    kinds[flags & TERMINAL != 0] = MARK
    kinds[flags & SPACE != 0] = WHITE
    for marks, kind in ((WIDE_MARKS, WIDE), (CLOSERS, CLOSER)):
        kinds[[ord(mark) for mark in marks]] = kind
    return kinds


@njit(cache=True, nogil=True)
def end_exactly(
    codes: Codes,
    starts: Offsets,
    ends: Offsets,
    first: int,
    last: int,
    end: int,
    flags: EnglishFlags,
    out: Offsets,
) -> int:
    """Write where the sentences of the words [first, last) end, the final one at `end`; returns how many they are."""
    found = 0
    behind_mark = False
    for word in range(first, last):
        start = starts[word]
        length = ends[word] - start
        if behind_mark:
            before = ends[word - 1]
            punctuation = True
            for position in range(start, start + length):
                punctuation &= flags[codes[position]] & PUNCTUATION != 0
            mark = length == 1 and flags[codes[start]] & SENTENCE_MARK != 0
            if is_white_word(codes, before, start) or not (punctuation or mark):
                out[found] = before
                found += 1
                behind_mark = False
        behind_mark |= length == 1 and flags[codes[start]] & SENTENCE_MARK != 0
    if behind_mark and is_white_word(codes, ends[last - 1], end):
        out[found] = ends[last - 1]
        found += 1
    out[found] = end
    return found + 1


@njit(cache=True, nogil=True)
def is_white_word(codes: Codes, begin: int, end: int) -> bool:
    """Whether the white space [begin, end) is a word of its own to the sentencizer: one space alone is none."""
    return end - begin > 1 or (end - begin == 1 and codes[begin] != SPACE_CODE)


@njit(cache=True, nogil=True)
def end_plainly(codes: Codes, begin: int, end: int, kinds: Flags, out: Offsets) -> int:
    """Write where the sentences of [begin, end) end; returns how many they are."""
    found = 0
    pending = -1
    after_marks = -1
    wide = False
    for position in range(begin, end):
        kind = kinds[codes[position]]
        if kind in (MARK, WIDE) or (kind == CLOSER and after_marks >= 0):
            wide = kind == WIDE or (wide and after_marks >= 0)
            after_marks = position + 1
            continue
        if after_marks >= 0 and (kind == WHITE or wide):
            pending = after_marks
        after_marks = -1
        if kind != WHITE and pending >= 0:
            out[found] = pending
            found += 1
            pending = -1
    out[found] = end
    return found + 1


@njit(cache=True, nogil=True)
def count_exactly(
    codes: Codes,
    starts: Offsets,
    ends: Offsets,
    line_begins: Offsets,
    line_ends: Offsets,
    flags: EnglishFlags,
) -> Offsets:
    """(L,) sentences of each span by the sentencizer's rule."""
    counts = np.empty(line_begins.size, np.int32)
    scratch = np.empty(starts.size + 1, np.int32)
    word = 0
    for line in range(line_begins.size):
        while word < starts.size and starts[word] < line_begins[line]:
            word += 1
        first = word
        while word < starts.size and starts[word] < line_ends[line]:
            word += 1
        end = line_ends[line]
        counts[line] = end_exactly(codes, starts, ends, first, word, end, flags, scratch)
    return counts


@njit(cache=True, nogil=True)
def count_plainly(codes: Codes, line_begins: Offsets, line_ends: Offsets, kinds: Flags) -> Offsets:
    """(L,) sentences of each span by the plain rule."""
    counts = np.empty(line_begins.size, np.int32)
    scratch = np.empty(codes.size + 1, np.int32)
    for line in range(line_begins.size):
        begin, end = line_begins[line], line_ends[line]
        counts[line] = end_plainly(codes, begin, end, kinds, scratch)
    return counts
