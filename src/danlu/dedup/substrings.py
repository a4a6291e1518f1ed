"""Runs of words that stand in the corpus twice, found by windows: the answer of a suffix array without holding one.

Decides: what belongs to runs of at least `min_words` words that occur twice is what windows of `min_words` words cover
that occur twice; windows are compared by 64-bit hash. With keep = "first" the first occurrence of each window stays
(plan.py says which is first), and what any other one covers goes; a text that repeats itself keeps its first period.
Guarantees: a cut begins and ends with a word, and never parts a letter from its vowel signs; no window lies in two
documents. Costs: 24 bytes of disk a word; memory
for the windows of one range. A false match needs two equal hashes: one in 1.8e19 pairs of windows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from danlu.dedup.contract import Run
from danlu.dedup.plan import (
    CUT,
    DROP,
    Plan,
    document_table,
    finish,
    finish_signing,
    hash_range,
    read_found,
    read_orders,
    read_plan,
    read_range,
    run_ranges,
    run_shards,
    sign_file,
    write_outcome,
)
from danlu.dedup.records import RecordWriter, read_group, read_rows, write_records
from danlu.dedup.repeats import best_of_groups, group_equal
from danlu.dedup.settings import Substrings
from danlu.errors import RecipeError
from danlu.words.classes import ALPHA, UNSPACED, table
from danlu.words.shingles import ngram_hashes, word_hashes
from danlu.words.text import Text, Words

WINDOW = np.dtype([("key", "<u8"), ("index", "<u4"), ("word", "<u4")])
MARK = np.dtype([("word", "<u4")])
"""Which word of its shard a window begins with."""
WORD = np.dtype([("start", "<u4"), ("end", "<u4")])
BEGIN = np.dtype([("index", "<u4"), ("word", "<u4")])
"""Which word of the shard a document begins with."""
MOST_WORDS = 1 << 32
"""In a shard: that many have a number in these records."""
_STAGE = "marks"


class WindowSigner:
    """Signs every window of words of one shard's documents for `use = "substrings"`."""

    def __init__(self, settings: Substrings, work: Path, shard: int, ranges: int) -> None:
        self._settings, self._place = settings, (work, shard, ranges)
        self._signed: list[tuple[int, bool, int]] = []
        self._first_words: list[int] = []
        self._count = 0
        self._windows = RecordWriter(sign_file(work, shard, "records"), WINDOW, ranges)
        self._words = RecordWriter(sign_file(work, shard, "words"), WORD, 1)

    def add(self, index: int, text: Text, held_out: bool) -> None:
        """One document. Raises RecipeError where the shard has too many words to number them."""
        words = _whole_letters(text)
        if self._count + len(words.starts) > MOST_WORDS:
            raise RecipeError(
                f"substrings: shard {self._place[1]} has more than {MOST_WORDS:,} words, which is the most that it can "
                "number; make corpus.shard_bytes smaller"
            )
        self._signed.append((index, held_out, len(text.text)))
        self._first_words.append(self._count)
        keys = ngram_hashes(word_hashes(text.codes, words), self._settings.min_words)
        windows = np.empty(len(keys), WINDOW)
        windows["key"], windows["index"] = keys, index
        windows["word"] = self._count + np.arange(len(keys))
        self._windows.add(windows, hash_range(keys, self._place[2]))
        spans = np.empty(len(words.starts), WORD)
        spans["start"], spans["end"] = words.starts, words.ends
        self._words.add(spans, np.zeros(len(spans), np.int64))
        self._count += len(spans)

    def close(self, documents: int) -> None:
        """Writes windows, words and the tables of documents."""
        work, shard, ranges = self._place
        self._windows.close()
        self._words.close()
        begins = np.empty(len(self._signed), BEGIN)
        begins["index"], begins["word"] = [index for index, _, _ in self._signed], self._first_words
        write_records(sign_file(work, shard, "begins"), begins, np.zeros(len(begins), np.int64), 1)
        finish_signing(self._settings, work, shard, ranges, document_table(documents, self._signed))


def _whole_letters(text: Text) -> Words:
    """The words of a text; of scripts that are split by character, with the vowel signs that stand on each."""
    words = text.words
    if text.splitter != "characters":
        return words
    is_sign = (table()[text.codes[words.starts]] & (UNSPACED | ALPHA)) == UNSPACED
    is_sign[1:] &= words.starts[1:] == words.ends[:-1]
    is_sign[:1] = False
    first = np.flatnonzero(~is_sign)
    last = np.append(first, len(is_sign))[1:] - 1
    return Words(words.starts[first], words.ends[last])


def resolve_windows(plan: Plan, run: Run) -> None:
    """Both stages: by range of window hashes, then by shard."""
    run_ranges(plan, run, find_windows, "substrings: compare")
    run_shards(plan, run, collect_windows, "substrings: collect")
    finish(plan)


def find_windows(argument: dict[str, Any]) -> None:
    """One range of hashes: the windows that go, by shard."""
    plan, number = read_plan(argument["work"]), argument["range"]
    path = plan.file(_STAGE, number)
    if path.exists():
        return
    found, numbers = read_range(plan, WINDOW, number)
    equal = group_equal(found["key"])
    gone = (np.bincount(equal.group) > 1)[equal.group]
    if _settings(plan).keep == "first":
        gone[best_of_groups(equal, read_orders(plan, numbers))] = False
    places = equal.order[gone]
    slots = plan.slot(numbers[places] >> 32)
    marks = np.empty(int((slots >= 0).sum()), MARK)
    marks["word"] = found["word"][places[slots >= 0]]
    write_records(path, marks, slots[slots >= 0], len(plan.shards))


def collect_windows(argument: dict[str, Any]) -> None:
    """One shard: windows that overlap become one run, runs of words become spans of code points."""
    plan, shard = read_plan(argument["work"]), argument["shard"]
    marks = np.sort(read_found(plan, _STAGE, MARK, shard)["word"].astype(np.int64))
    length = _settings(plan).min_words
    # Windows of different documents have no word in common.
    apart = np.diff(marks) >= length
    first = marks[np.concatenate((marks[:1] == marks[:1], apart))]
    last = marks[np.concatenate((apart, marks[:1] == marks[:1]))] + length - 1
    begins = read_group(sign_file(plan.work, shard, "begins"), BEGIN, 0)
    words = sign_file(plan.work, shard, "words")
    cuts = np.empty(len(first), CUT)
    # Of documents without words, which begin where the next one does, the last is the one with the word.
    cuts["index"] = begins["index"][np.searchsorted(begins["word"], first, side="right") - 1]
    cuts["start"] = read_rows(words, WORD, first)["start"]
    cuts["end"] = read_rows(words, WORD, last)["end"]
    write_outcome(plan, shard, np.empty(0, DROP), cuts)


def _settings(plan: Plan) -> Substrings:
    assert isinstance(plan.settings, Substrings)
    return plan.settings
