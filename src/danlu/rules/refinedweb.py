"""RefinedWeb's line-wise corrections: what a page's frame left among its text goes, line by line.

Decides: DCLM-Baseline's order of the corrections of Penedo et al. 2023 (table 2): long runs of line feeds; lines of
capitals, of digits, of counters ("3 likes"), of too few words; phrases of shops and sign-ins in short lines. A page
that loses too large a share of its words is a frame itself, and is dropped. Words are those of the text's splitter,
so that a line of Chinese is not one word. Guarantees: a text in which nothing is wrong is the same object.
Costs: about 40 MB/s beside the splitting of words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.rules.settings import RefinedWeb
from danlu.words.classes import ALPHA, DIGIT, UPPER, table
from danlu.words.text import Measured, Text, encode, split

MEASURES: tuple[str, ...] = ("words", "removed_lines", "removed_words_ratio")
REWRITES = True

LINE_FEED = 10
Counts = npt.NDArray[np.int32]

_COUNTER = re.compile(
    r"^\W*\d[,.\d]*[kmb]?\s+(?:likes|shares|comments|retweets|reposts|quotes|bookmarks|upvotes|downvotes"
    r"|downloads|views|followers)\W*$"
)
_COUNTER_LETTERS = range(5, 11)
"""From "views" to "1b followers"."""
_PHRASES = ("items in cart", "read more", "sign-in")
_PHRASE_PATTERNS = tuple(
    # A regular expression's dot, as published: "Read more" and any three characters at the end of a line.
    re.compile(pattern, re.IGNORECASE)
    for pattern in (r"\s?items in cart", r"\s?Read more...$", r"^Sign-in\s?")
)


class Lines(NamedTuple):
    """Code points, capitals, digits, letters and words of each of the L lines between line feeds, (L,) each."""

    length: Counts
    upper: Counts
    digits: Counts
    letters: Counts
    words: Counts


def measure(text: Text, settings: RefinedWeb) -> Measured:
    """The corrected text and what that took from it."""
    lines, counted = text.text.split("\n"), count_lines(text)
    kept = _short_runs(counted.length, settings.max_consecutive_newlines)
    wrong = _wrong_lines(lines, counted, settings)
    kept &= ~wrong
    changed, lost = _cut_phrases(text, lines, counted, kept, settings)
    for index, line in changed.items():
        lines[index] = line
        kept[index] = bool(line)
    total = int(counted.words.sum())
    removed = int(counted.words[~kept & wrong].sum()) + lost
    values = (float(total - removed), float(wrong.sum()), removed / total if total else 0.0)
    if kept.all() and not changed:
        return Measured(text, values)
    left = [line for line, stays in zip(lines, kept.tolist(), strict=True) if stays]
    return Measured(text.with_text("\n".join(left).strip()), values)


def decide(values: Sequence[float], settings: RefinedWeb) -> str:
    """ "" keeps; else "removed_words" or "empty"."""
    words, _, ratio = values
    if ratio > settings.max_removed_words_ratio:
        return "removed_words"
    return "empty" if words == 0 else ""


def count_lines(text: Text) -> Lines:
    """What is in each line."""
    counts = np.zeros((5, text.text.count("\n") + 1), np.int32)
    _fill_counts(text.codes, table(), text.words.starts, counts)
    return Lines(*counts)


@njit(cache=True, nogil=True)
def _fill_counts(
    codes: npt.NDArray[np.uint32], flags: npt.NDArray[np.uint8], word_starts: Counts, counts: Counts
) -> None:
    """Code points, capitals, digits, letters, words of each line into the rows of (5, L)."""
    line = 0
    word = 0
    for position in range(codes.size):
        if codes[position] == LINE_FEED:
            line += 1
            continue
        flag = flags[codes[position]]
        counts[0, line] += 1
        counts[1, line] += (flag & UPPER) != 0
        counts[2, line] += (flag & DIGIT) != 0
        counts[3, line] += (flag & ALPHA) != 0
        if word < word_starts.size and word_starts[word] == position:
            counts[4, line] += 1
            word += 1


def _short_runs(length: Counts, most: int) -> npt.NDArray[np.bool_]:
    """Which lines stay where at most so many line feeds may follow one another."""
    kept = np.ones(length.size, np.bool_)
    if length.size <= most:
        return kept
    empty = length == 0
    edges = np.flatnonzero(np.diff(np.concatenate(([False], empty, [False])).astype(np.int8)))
    for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        # Inside a text, n line feeds leave n - 1 empty lines; at its start or end, one more.
        outside = (start == 0) + (end == length.size)
        kept[start + most - 1 + outside : end] = False
    return kept


def _wrong_lines(lines: list[str], counted: Lines, settings: RefinedWeb) -> npt.NDArray[np.bool_]:
    filled = counted.length > 0
    length = np.maximum(counted.length, 1)
    wrong = counted.upper / length > settings.max_uppercase_ratio
    wrong |= counted.digits / length > settings.max_numeric_ratio
    wrong |= counted.words < settings.min_words_per_line
    wrong &= filled
    if settings.remove_counters:
        few = (counted.letters >= _COUNTER_LETTERS[0]) & (counted.letters <= _COUNTER_LETTERS[-1])
        for index in np.flatnonzero(few & (counted.digits > 0) & ~wrong).tolist():
            wrong[index] = bool(_COUNTER.search(lines[index].lower()))
    return wrong


def _cut_phrases(
    text: Text, lines: list[str], counted: Lines, kept: npt.NDArray[np.bool_], settings: RefinedWeb
) -> tuple[dict[int, str], int]:
    """Index -> what is left of a short line with a phrase ("" goes), and how many words that cut."""
    changed: dict[int, str] = {}
    lost = 0
    lowered = text.text.lower()
    if not any(phrase in lowered for phrase in _PHRASES):
        return changed, lost
    short = kept & (counted.length > 0) & (counted.words <= settings.max_phrase_line_words)
    for index in np.flatnonzero(short).tolist():
        line = lines[index]
        for pattern in _PHRASE_PATTERNS:
            line = pattern.sub("", line)
        if line != lines[index]:
            changed[index] = "" if line.isspace() else line
            lost += int(counted.words[index]) - split(encode(line), text.splitter).starts.size
    return changed, lost
