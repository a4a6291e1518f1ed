"""Words to numbers, sentences to counted n-grams: the first pass of training.

Decides: a sentence is `<s>` ... `</s>`, its n-grams of the highest order begin with as many `<s>` as are missing; all
lower orders follow from them. `<s>`, `</s>` and `<unk>` written in a text are left out, as lmplz does with
--skip_symbols. Guarantees: numbers are given in order of appearance. Costs: 100 ns a word; in memory the vocabulary,
some 100 bytes a distinct word, and the sorter's share.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.lm.runs import Rows, Sorter, group_heads
from danlu.lm.tokens import Kind, Longs, Sentences, cut, spell
from danlu.words.hashes import hash_span
from danlu.words.shingles import Hashes, hash_words
from danlu.words.text import encode

UNKNOWN, BEGIN, END = 0, 1, 2
SPECIAL = ("<unk>", "<s>", "</s>")
"""Spelled as in ARPA files, by number."""
MOST_COUNT = 2**32 - 1
BATCH_CHARACTERS = 1 << 20

Slots = npt.NDArray[np.int64]


def word_hash(word: str) -> np.uint64:
    """What a word is looked up by, in training and in queries."""
    codes = encode(word)
    return np.uint64(hash_span(codes, 0, codes.size))


class Vocabulary:
    """The words seen so far and their numbers."""

    def __init__(self) -> None:
        self.words: list[str] = list(SPECIAL)
        self._slots = np.full(1 << 12, -1, np.int64)
        self._hashes = np.zeros(len(self._slots) // 2, np.uint64)
        self._hashes[: len(SPECIAL)] = [word_hash(word) for word in SPECIAL]
        _fill(self._slots, self._hashes[: len(SPECIAL)])

    def number(self, sentences: Sentences) -> npt.NDArray[np.uint32]:
        """(W,) the number of every word; new words get the next ones."""
        hashes = hash_words(sentences.codes, sentences.starts, sentences.ends)
        known = len(self.words)
        if known + len(hashes) > len(self._hashes):
            self._grow(known + len(hashes))
        numbers, fresh = _number(hashes, self._slots, self._hashes, known)
        self.words.extend(spell(sentences, word) for word in fresh.tolist())
        return numbers

    def _grow(self, words: int) -> None:
        """Makes room for so many words, half of the slots staying empty."""
        room = 1 << (words - 1).bit_length()
        hashes = np.zeros(room, np.uint64)
        hashes[: len(self._hashes)] = self._hashes
        self._hashes, self._slots = hashes, np.full(2 * room, -1, np.int64)
        _fill(self._slots, self._hashes[: len(self.words)])


def batches(texts: Iterable[str], characters: int = BATCH_CHARACTERS) -> Iterator[str]:
    """Texts joined by line ends to some `characters`, since a line is a sentence wherever it stands."""
    parts: list[str] = []
    size = 0
    for piece in (piece for text in texts for piece in _pieces(text, characters)):
        parts.append(piece)
        size += len(piece) + 1
        if size >= characters:
            yield "\n".join(parts)
            parts, size = [], 0
    if parts:
        yield "\n".join(parts)


def _pieces(text: str, characters: int) -> Iterator[str]:
    """A text cut at line ends, so that a large one does not take more memory than many small ones."""
    begin = 0
    while len(text) - begin > characters and (end := text.find("\n", begin + characters)) >= 0:
        yield text[begin:end]
        begin = end + 1
    yield text[begin:]


def count_texts(texts: Iterable[str], kind: Kind, order: int, vocabulary: Vocabulary, sorter: Sorter) -> int:
    """Adds the n-grams of all texts to a sorter of rows of `order` words and a count; how many words there were."""
    words = 0
    for batch in batches(texts):
        sentences = cut(encode(batch), kind)
        numbers, lines = without_special(vocabulary.number(sentences), sentences.lines)
        words += len(numbers)
        sorter.add(ngram_rows(numbers, lines, order))
    return words


def without_special(numbers: npt.NDArray[np.uint32], lines: Longs) -> tuple[npt.NDArray[np.uint32], Longs]:
    """The words that are no marks of the model's own, and the ends of the sentences that are left."""
    plain = numbers > END
    if plain.all():
        return numbers, lines
    ends: Longs = np.unique(np.cumsum(plain)[lines - 1])
    return numbers[plain], ends[np.flatnonzero(ends)]


def add_counts(rows: Rows) -> Rows:
    """Sorted rows with those of equal words made one and their counts, the last column, added up."""
    heads = group_heads(rows, range(rows.shape[1] - 1))
    combined = rows[heads]
    if len(heads):
        combined[:, -1] = sum_counts(rows[:, -1], heads)
    return combined


def sum_counts(counts: npt.NDArray[np.uint32], heads: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
    """The sums of the groups that begin at `heads`; what is too large for 32 bits stays the largest."""
    sums = np.add.reduceat(counts.astype(np.uint64), heads)
    return np.minimum(sums, np.uint64(MOST_COUNT)).astype(np.uint32)


@njit(cache=True, nogil=True)
def ngram_rows(numbers: npt.NDArray[np.uint32], lines: Longs, order: int) -> Rows:
    """(W + L, order + 1): for every word and every sentence's end the `order` words up to it, and the count 1."""
    rows = np.empty((numbers.size + lines.size, order + 1), np.uint32)
    row, begin = 0, 0
    for line in range(lines.size):
        end = lines[line]
        for position in range(begin, end + 1):
            for place in range(order):
                word = position - order + 1 + place
                if word < begin:
                    rows[row, place] = BEGIN
                elif word < end:
                    rows[row, place] = numbers[word]
                else:
                    rows[row, place] = END
            rows[row, order] = 1
            row += 1
        begin = end
    return rows


@njit(cache=True, nogil=True)
def _fill(slots: Slots, hashes: Hashes) -> None:
    """Puts the number of every hash into empty slots, a power of two of them."""
    mask = np.uint64(slots.size - 1)
    for number in range(hashes.size):
        slot = hashes[number] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = number


@njit(cache=True, nogil=True)
def _number(
    hashes: Hashes, slots: Slots, table: Hashes, known: int
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """(W,) numbers, and the place of the first occurrence of each new word. `table`: the hash of each number."""
    numbers = np.empty(hashes.size, np.uint32)
    fresh = np.empty(hashes.size, np.int64)
    first = known
    mask = np.uint64(slots.size - 1)
    for word in range(hashes.size):
        slot = hashes[word] & mask
        while slots[slot] >= 0 and table[slots[slot]] != hashes[word]:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot] = known
            table[known] = hashes[word]
            fresh[known - first] = word
            known += 1
        numbers[word] = slots[slot]
    return numbers, fresh[: known - first].copy()
