"""What a scorer sees of a text: hashed words, runs of words and runs of characters (Joulin et al. 2016, section 2.3).

Decides: case does not count and every digit is 0; a token is a run of letters, digits and signs, one mark of
punctuation, or one character of a script without spaces, so that for these runs of words are runs of characters. Runs
of characters stay within what stands between spaces, whose ends are marked, so that "f*ck" is seen whole. A feature's
value is 1 + ln(count). Characters, words, pairs of words and so on are kinds, each scaled to the same length, so that
the many runs of characters do not drown the order of the words; all together have length 1, so that long texts weigh
no more than short ones. Guarantees: the same features on every machine; of one kind, those that share a bucket are one.
Costs: some 10 MB/s of what is read, 4 of tweets.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.scorers.settings import Features
from danlu.words.classes import ASSIGNED, CODE_POINTS, PUNCTUATION, SPACE, UNSPACED, table
from danlu.words.hashes import START, STEP, STEP_SHIFT, Codes, hash_span, join_hashes, mix
from danlu.words.text import Text, encode

Flags = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int32]
Buckets = npt.NDArray[np.uint32]
Values = npt.NDArray[np.float32]

EDGE = CODE_POINTS
"""Stands for the start and the end of what is between spaces; no code point is as large."""
_SPREAD = np.uint32(2654435769)


class Row(NamedTuple):
    """The features of a text: (F,) buckets, distinct within each kind, and (F,) values."""

    buckets: Buckets
    values: Values


def extract_features(text: Text | str, features: Features) -> Row:
    """The features of a text; none where there is nothing but white space."""
    read = features.read_characters
    codes = encode(text[:read]) if isinstance(text, str) else text.codes[:read]
    found = hash_features(
        fold_table()[codes],
        table(),
        features.bucket_bits,
        features.word_ngram,
        features.min_characters,
        features.max_characters,
    )
    return Row(*found)


@cache
def fold_table() -> Codes:
    """(code points,) small letters for capitals and 0 for digits."""
    folded = np.arange(CODE_POINTS, dtype=np.uint32)
    for code, character in enumerate(map(chr, range(ASSIGNED))):
        lower = character.lower()
        if character.isdecimal():
            folded[code] = ord("0")
        elif lower != character and len(lower) == 1:
            folded[code] = ord(lower)
    folded.setflags(write=False)
    return folded


@njit(cache=True, nogil=True)
def split_tokens(codes: Codes, flags: Flags) -> tuple[Offsets, Offsets]:
    """Starts and ends (W,) of the tokens of a text; marks and characters of scripts without spaces stand alone."""
    starts = np.empty(codes.size, np.int32)
    ends = np.empty(codes.size, np.int32)
    count = 0
    inside = False
    for position in range(codes.size):
        flag = flags[codes[position]]
        if flag & SPACE:
            inside = False
            continue
        alone = flag & (PUNCTUATION | UNSPACED) != 0
        if alone or not inside:
            starts[count] = position
            count += 1
        ends[count - 1] = position + 1
        inside = not alone
    return starts[:count].copy(), ends[:count].copy()


@njit(cache=True, nogil=True)
def hash_features(
    codes: Codes, flags: Flags, bits: int, word_ngram: int, shortest: int, longest: int
) -> tuple[Buckets, Values]:
    """The features of folded code points, kind by kind: runs of characters, then of 1, 2, ... words."""
    padded = pad_chunks(codes, flags)
    starts, ends = split_tokens(codes, flags)
    hashes = np.empty(starts.size, np.uint64)
    for token in range(starts.size):
        hashes[token] = hash_span(codes, starts[token], ends[token])
    most = padded.size * max(longest - shortest + 1, 0) + starts.size * word_ngram
    buckets, values = np.empty(most, np.uint32), np.empty(most, np.float32)
    size = 0
    kinds = 0
    for kind in range(word_ngram + 1):
        if kind == 0:
            repeated = list_characters(padded, bits, shortest, longest)
        else:
            repeated = list_words(hashes, bits, kind)
        if repeated.size:
            distinct, weights = count_repeats(repeated)
            # A loop compiles in a fifth of the time that slices take.
            for place in range(distinct.size):
                buckets[size] = distinct[place]
                values[size] = weights[place]
                size += 1
            kinds += 1
    # Each kind has length 1, and so have all together.
    scale = np.float32(1.0 / np.sqrt(max(kinds, 1)))
    for place in range(size):
        values[place] *= scale
    return buckets[:size].copy(), values[:size].copy()


@njit(cache=True, nogil=True)
def list_characters(padded: Codes, bits: int, shortest: int, longest: int) -> Buckets:
    """The bucket of every run of characters of padded chunks, repeats included; none where `longest` is 0."""
    shift = np.uint64(64 - bits)
    buckets = np.empty(padded.size * max(longest - shortest + 1, 0), np.uint32)
    count = 0
    for first in range(padded.size if longest else 0):
        value = START
        for length in range(1, min(longest, padded.size - first) + 1):
            code = padded[first + length - 1]
            # What follows a closing edge is another chunk.
            if length == 2 and code == EDGE and padded[first] == EDGE:
                break
            value = (value ^ np.uint64(code)) * STEP
            value ^= value >> STEP_SHIFT
            if length >= shortest:
                buckets[count] = np.uint32(mix(value) >> shift)
                count += 1
            if code == EDGE and length > 1:
                break
    return buckets[:count]


@njit(cache=True, nogil=True)
def list_words(hashes: npt.NDArray[np.uint64], bits: int, words: int) -> Buckets:
    """The bucket of every run of so many words, repeats included."""
    shift = np.uint64(64 - bits)
    buckets = np.empty(max(hashes.size - words + 1, 0), np.uint32)
    for first in range(buckets.size):
        value = np.uint64(0)
        for word in range(first, first + words):
            value = join_hashes(value, hashes[word])
        buckets[first] = np.uint32(value >> shift)
    return buckets


@njit(cache=True, nogil=True)
def pad_chunks(codes: Codes, flags: Flags) -> Codes:
    """What stands between spaces, one after the other, each between two EDGE of its own."""
    padded = np.empty(codes.size * 3, np.uint32)
    size = 0
    inside = False
    for position in range(codes.size):
        is_space = flags[codes[position]] & SPACE != 0
        if is_space == inside:
            padded[size] = EDGE
            size += 1
            inside = not is_space
        if not is_space:
            padded[size] = codes[position]
            size += 1
    if inside:
        padded[size] = EDGE
        size += 1
    return padded[:size]


@njit(cache=True, nogil=True)
def count_repeats(repeated: Buckets) -> tuple[Buckets, Values]:
    """The distinct buckets in order of their first occurrence, and 1 + ln(count) of each, scaled to length 1."""
    bits = 4
    while 1 << bits < 2 * repeated.size:
        bits += 1
    shift = np.uint32(32 - bits)
    # A small table of its own, so that it stays in the cache and threads share nothing.
    places = np.full(1 << bits, -1, np.int32)
    buckets = np.empty(repeated.size, np.uint32)
    counts = np.empty(repeated.size, np.int32)
    size = 0
    for bucket in repeated:
        slot = np.uint32(bucket * _SPREAD) >> shift
        while places[slot] >= 0 and buckets[places[slot]] != bucket:
            slot = np.uint32((slot + np.uint32(1)) & np.uint32((1 << bits) - 1))
        if places[slot] < 0:
            places[slot] = size
            buckets[size] = bucket
            counts[size] = 0
            size += 1
        counts[places[slot]] += 1
    values = np.empty(size, np.float32)
    squares = 0.0
    for place in range(size):
        # Most features occur once: their logarithm needs no computing.
        value = 1.0 + np.log(counts[place]) if counts[place] > 1 else 1.0
        squares += value * value
        values[place] = value
    scale = np.float32(1.0 / np.sqrt(max(squares, 1.0)))
    for place in range(size):
        values[place] *= scale
    return buckets[:size].copy(), values
