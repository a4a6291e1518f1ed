"""Gopher's quality rules (Rae et al. 2021, section A1.1): length, mean word length, symbols, bullets, stop words.

Decides: as datatrove 0.10.1 does, the first broken rule is the reason. Its words are those of the text's splitter,
punctuation tokens included, which weighs more than any threshold. A text without words has no ratios (NaN), which
break no rule: `short_doc` drops it, or, with min_doc_words = 0, `enough_stop_words`. Costs: about 5 ns a character
beside splitting, 3 of them shared with Gopher's repetition.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import nan

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.rules.lines import Codes, Flags, ends_in_dots, line_end, next_line, strip_span
from danlu.rules.ngrams import hash_word, word_table
from danlu.rules.science import mask_formulae
from danlu.rules.seen import find_slot
from danlu.rules.settings import GopherQuality
from danlu.words.classes import table
from danlu.words.text import Measured, Text

MEASURES: tuple[str, ...] = (
    "words",
    "mean_word_length",
    "hash_word_ratio",
    "ellipsis_word_ratio",
    "bullet_lines_ratio",
    "ellipsis_lines_ratio",
    "alpha_words_ratio",
    "stop_words",
)
BULLET, HYPHEN, ELLIPSIS = ord("•"), ord("-"), ord("…")


def measure(text: Text, settings: GopherQuality) -> Measured:
    """The measures of a text, which stays as it is; `words` and `mean_word_length` are of words beyond punctuation."""
    prose = mask_formulae(text) if settings.formulae else text
    words = word_table(prose)
    lines, bullets, ellipses = _count_marked(prose.codes, table())
    keys, bits, longest = _stop_table(tuple(settings.stop_words))
    stop_words = _count_found(words.hashes, words.characters, words.count, longest, keys, bits)
    values = (
        float(words.prose_words),
        _ratio(words.prose_characters, words.prose_words),
        _ratio(prose.text.count("#"), words.count),
        _ratio(prose.text.count("...") + prose.text.count("…"), words.count),
        _ratio(bullets, lines),
        _ratio(ellipses, lines),
        _ratio(words.letter_words, words.count),
        float(stop_words),
    )
    return Measured(text, values)


def decide(values: Sequence[float], settings: GopherQuality) -> str:
    """The first rule that the measures break, "" where they break none."""
    words, length, hashes, ellipses, bullet_lines, ellipsis_lines, alpha, stop_words = values
    broken = {
        "short_doc": words < settings.min_doc_words,
        "long_doc": words > settings.max_doc_words,
        "below_avg_threshold": length < settings.min_avg_word_length,
        "above_avg_threshold": length > settings.max_avg_word_length,
        "too_many_hashes": hashes > settings.max_symbol_word_ratio,
        "too_many_ellipsis": ellipses > settings.max_symbol_word_ratio,
        "too_many_bullets": bullet_lines > settings.max_bullet_lines_ratio,
        "too_many_end_ellipsis": ellipsis_lines > settings.max_ellipsis_lines_ratio,
        "below_alpha_threshold": alpha < settings.min_alpha_words_ratio,
        "enough_stop_words": stop_words < settings.min_stop_words,
    }
    return next((reason for reason, is_broken in broken.items() if is_broken), "")


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else nan


@lru_cache(maxsize=16)
def _stop_table(words: tuple[str, ...]) -> tuple[npt.NDArray[np.uint64], int, int]:
    """The stop words' hashes as a set in slots, the bits of a slot's index, and the longest word's characters."""
    bits = (4 * len(words) + 1).bit_length()
    keys = np.zeros(1 << bits, np.uint64)
    for word in words:
        value = hash_word(word)
        keys[find_slot(keys, bits, value)] = value
    return keys, bits, max(map(len, words), default=0)


@njit(cache=True, nogil=True)
def _count_found(
    hashes: npt.NDArray[np.uint64],
    characters: npt.NDArray[np.int32],
    words: int,
    longest: int,
    keys: npt.NDArray[np.uint64],
    bits: int,
) -> int:
    """How many of the words in a set of hashes occur, each counted once."""
    found = np.zeros(1 << bits, np.bool_)
    different = 0
    for word in range(words):
        if characters[word + 1] - characters[word] > longest:
            continue
        slot = find_slot(keys, bits, hashes[word])
        if keys[slot] and not found[slot]:
            found[slot] = True
            different += 1
    return different


@njit(cache=True, nogil=True)
def _count_marked(codes: Codes, flags: Flags) -> tuple[int, int, int]:
    """Lines; those that begin with a bullet; those that end with an ellipsis, white space aside."""
    lines = 0
    bullets = 0
    ellipses = 0
    start = 0
    while start < codes.size:
        stop = line_end(codes, flags, start)
        first, last = strip_span(codes, flags, start, stop)
        lines += 1
        if first < last:
            bullets += codes[first] == BULLET or codes[first] == HYPHEN
            ellipses += codes[last - 1] == ELLIPSIS or ends_in_dots(codes, first, last)
        start = next_line(codes, stop)
    return lines, bullets, ellipses
