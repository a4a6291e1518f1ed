"""The words of one text as the Gopher rules count them, and the runs of n words that it repeats.

Decides: the top n-gram is the most frequent one, the earliest among equals, words compared with the spaces between
them. Duplicate n-grams are found from left to right, compared without spaces ("ab c" is "a bc"); after one the scan
goes on behind it. Both are datatrove 0.10.1's definitions. A word's hash is a polynomial over its code points modulo
2^64, so that the hash of words put together is had from theirs. A bit map of hashes first sets aside what occurs
once; only the rest is looked up by its whole hash. Guarantees: linear in the text; a text's table is built once,
however many rules ask for it, and lives until the next text's. Costs: 3 ns a character, 5 ns a word and n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.rules.seen import SPREAD, Keys, clear, find_slot, seen_before, slots_for, spread
from danlu.words.classes import ALPHA, PUNCTUATION, table
from danlu.words.text import Text, Words

TOP_SIZES = (2, 3, 4)
DUPLICATE_SIZES = (5, 6, 7, 8, 9, 10)

BASE = np.uint64(0x9E3779B97F4A7C15)
"""The polynomial's variable: odd, so that its powers never vanish."""
SPACE_TERM = np.uint64(ord(" ") + 1)
BITS_PER_GRAM = 16
"""One n-gram in so many is looked up although it occurs once."""
FEWEST_MAP_BITS = 9
ONE, NOTHING = np.uint64(1), np.uint64(0)

Hashes = npt.NDArray[np.uint64]
Offsets = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class WordTable:
    """W words. The arrays are longer than that: what lies behind is left over from other texts."""

    count: int
    hashes: Hashes
    """Of each word (W,)."""
    powers: Hashes
    """BASE to the power of each word's length (W,)."""
    characters: Offsets
    """Characters of the words before each word, and of all (W + 1,)."""
    prose_words: int
    """Words with a character that is no punctuation."""
    prose_characters: int
    """Characters of those."""
    letter_words: int
    """Words with a letter."""


class _Arrays:
    """What the latest text left, and room for the next: a word, a slot or 32 bits an entry; they only grow."""

    words: Words | None = None
    table: WordTable
    hashes: Hashes = np.empty(0, np.uint64)
    powers: Hashes = np.empty(0, np.uint64)
    characters: Offsets = np.zeros(1, np.int32)
    grams: Hashes = np.empty(0, np.uint64)
    candidates: Offsets = np.empty(0, np.int32)
    bit_map: Hashes = np.empty(0, np.uint64)
    firsts: Offsets = np.empty(0, np.int32)
    counts: Offsets = np.empty(0, np.int32)

    @classmethod
    def make_room(cls, words: int) -> Keys:
        """Grows what is too small for so many words; returns the slots for them."""
        keys = slots_for(words)
        if len(cls.grams) < words:
            cls.hashes, cls.powers, cls.grams = np.empty((3, 2 * words), np.uint64)
            cls.characters = np.zeros(2 * words + 1, np.int32)
            cls.candidates = np.empty(2 * words, np.int32)
            cls.bit_map = np.empty(2 * words + (1 << FEWEST_MAP_BITS), np.uint64)
        if len(cls.firsts) < len(keys):
            cls.firsts, cls.counts = np.empty((2, len(keys)), np.int32)
        return keys


def word_table(text: Text) -> WordTable:
    """The table of a text's words by its own splitter."""
    words = text.words
    if _Arrays.words is not words:
        count = len(words.starts)
        _Arrays.make_room(count)
        hashes, powers, characters = _Arrays.hashes, _Arrays.powers, _Arrays.characters
        sums = _fill_table(text.codes, table(), words.starts, words.ends, hashes, powers, characters)
        _Arrays.table = WordTable(count, hashes, powers, characters, *sums)
        _Arrays.words = words
    return _Arrays.table


def hash_word(word: str) -> np.uint64:
    """The hash that a table holds for this word."""
    value = 0
    for character in word:
        value = (value * int(BASE) + ord(character) + 1) % 2**64
    return np.uint64(value)


def repeated_ngrams(words: WordTable) -> list[int]:
    """Characters of the most frequent 2, 3 and 4-gram, all occurrences, with the spaces in them; then characters
    of the runs of 5 to 10 words that occurred before, without spaces. 0 where a text has fewer words."""
    keys = _Arrays.make_room(words.count)
    found = np.zeros(len(TOP_SIZES) + len(DUPLICATE_SIZES), np.int64)
    _fill_found(
        words.hashes,
        words.powers,
        words.characters,
        words.count,
        _Arrays.grams,
        _Arrays.candidates,
        _Arrays.bit_map,
        keys,
        _Arrays.firsts,
        _Arrays.counts,
        found,
    )
    return found.tolist()


@njit(cache=True, nogil=True)
def _fill_table(
    codes: npt.NDArray[np.uint32],
    flags: npt.NDArray[np.uint8],
    starts: Offsets,
    ends: Offsets,
    hashes: Hashes,
    powers: Hashes,
    characters: Offsets,
) -> tuple[int, int, int]:
    """Fills the three arrays; returns prose words, their characters, and words with a letter."""
    prose_words = 0
    prose_characters = 0
    letter_words = 0
    total = 0
    for word in range(starts.size):
        value = np.uint64(0)
        power = np.uint64(1)
        some = 0
        every = PUNCTUATION
        for position in range(starts[word], ends[word]):
            code = codes[position]
            flag = flags[code]
            some |= flag
            every &= flag
            # One is added so that a NUL in front changes the hash.
            value = value * BASE + np.uint64(code) + ONE
            power *= BASE
        length = ends[word] - starts[word]
        total += length
        hashes[word] = value
        powers[word] = power
        characters[word + 1] = total
        letter_words += (some & ALPHA) != 0
        if not every:
            prose_words += 1
            prose_characters += length
    return prose_words, prose_characters, letter_words


@njit(cache=True, nogil=True)
def _fill_found(
    hashes: Hashes,
    powers: Hashes,
    characters: Offsets,
    words: int,
    grams: Hashes,
    candidates: Offsets,
    bit_map: Hashes,
    keys: Hashes,
    firsts: Offsets,
    counts: Offsets,
    found: npt.NDArray[np.int64],
) -> None:
    """The characters of the top n-grams, n = 2 to 4, and of the duplicates, n = 5 to 10, into found[n - 2]."""
    for place in range(words):
        grams[place] = hashes[place]
    for size in range(2, min(4, words) + 1):
        _append_words(grams, hashes, powers, size, words, BASE, SPACE_TERM)
        several = _collect_candidates(grams, words - size + 1, bit_map, candidates)
        most, earliest = _find_top(grams, candidates, several, keys, firsts, counts)
        found[size - 2] = most * (characters[earliest + size] - characters[earliest] + size - 1)
    for place in range(words):
        grams[place] = hashes[place]
    for size in range(2, min(10, words) + 1):
        _append_words(grams, hashes, powers, size, words, ONE, NOTHING)
        if size < 5:
            continue
        several = _collect_candidates(grams, words - size + 1, bit_map, candidates)
        bits = clear(keys, several)
        behind = np.int64(0)
        for place in range(several):
            first = np.int64(candidates[place])
            if first >= behind and seen_before(keys, bits, grams[first]):
                found[size - 2] += characters[first + size] - characters[first]
                behind = first + size


@njit(cache=True, nogil=True)
def _append_words(
    grams: Hashes, hashes: Hashes, powers: Hashes, size: int, words: int, factor: np.uint64, term: np.uint64
) -> None:
    """Makes n-grams of `size` words from those of one less.

    `factor` and `term` put a character between words: BASE and its term, or ONE and NOTHING.
    """
    for first in range(words - size + 1):
        last = first + size - 1
        grams[first] = (grams[first] * factor + term) * powers[last] + hashes[last]


@njit(cache=True, nogil=True)
def _collect_candidates(grams: Hashes, total: int, bit_map: Hashes, candidates: Offsets) -> int:
    """In order, the n-grams that share a bit with another one: all that occur twice, few others."""
    bits = FEWEST_MAP_BITS
    while 1 << bits < total * BITS_PER_GRAM:
        bits += 1
    # Words of 64 bits side by side: bits that were set once, bits that were set again.
    for pair in range(1 << (bits - 5)):
        bit_map[pair] = NOTHING
    for first in range(total):
        place = spread(grams[first], bits)
        bit = ONE << np.uint64(place & 63)
        again = ((place >> 6) << 1) + 1
        bit_map[again] |= bit_map[again - 1] & bit
        bit_map[again - 1] |= bit
    several = 0
    for first in range(total):
        place = spread(grams[first], bits)
        again = ((place >> 6) << 1) + 1
        candidates[several] = first
        several += (bit_map[again] >> np.uint64(place & 63)) & ONE == ONE
    return several


@njit(cache=True, nogil=True)
def _find_top(
    grams: Hashes, candidates: Offsets, several: int, keys: Hashes, firsts: Offsets, counts: Offsets
) -> tuple[int, int]:
    """How often the most frequent n-gram occurs, and where first; the first n-gram where none occurs twice."""
    most = 1
    earliest = 0
    bits = clear(keys, several)
    for place in range(several):
        first = candidates[place]
        value = grams[first] if grams[first] else SPREAD
        slot = find_slot(keys, bits, value)
        if keys[slot] != value:
            keys[slot] = value
            firsts[slot] = first
            counts[slot] = 0
        counts[slot] += 1
        if counts[slot] > most or (counts[slot] == most > 1 and firsts[slot] < earliest):
            most = counts[slot]
            earliest = firsts[slot]
    return most, earliest
