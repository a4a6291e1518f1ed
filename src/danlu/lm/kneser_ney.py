"""Modified Kneser-Ney smoothing, interpolated (Chen & Goodman 1998, section 3), from sorted files of n-grams.

Decides, as lmplz does (Heafield et al. 2013): an n-gram below the highest order counts in how many ways it goes on to
the left, but for one that begins with `<s>`, which counts its occurrences; discounts by equation 26 with those counts,
one, two, three and more apart, and 0.5, 1, 1.5 where the data are too few or too odd for it; unigrams are interpolated
with the uniform distribution, whose share is what `<unk>` gets; the mass of pruned n-grams goes to the lower order.
Guarantees: the probabilities after each context sum to 1. Costs: three sorts of the n-grams of each order; memory
bounded by `memory_bytes` and the vocabulary.

Files of rows: counts{n} [n words, adjusted count, count], sorted from the last word to the first; parts{n} [n words,
own probability, weight of the lower order], shares{n} [n words, weight of the order above] and probabilities{n}
[n words, probability], sorted likewise; floats are stored by their bits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from danlu.lm.count import BEGIN, sum_counts
from danlu.lm.runs import Columns, Rows, Sorter, find_rows, group_heads, read_rows, whole_groups, write_rows

Floats = npt.NDArray[np.float32]

FALLBACK = (0.5, 1.0, 1.5)
"""The discounts of lmplz --discount_fallback."""
_TALLIED = 5
_SORTERS = 3
"""So many sorters share the memory at a time."""


class Counts(NamedTuple):
    """What was counted of one order."""

    kept: int
    """n-grams that are not pruned"""
    tally: tuple[int, ...]
    """how many n-grams have the adjusted count 0, 1, 2, 3 and 4"""


class Discounts(NamedTuple):
    """What is taken from n-grams with the adjusted count 1, 2, and 3 and more."""

    amounts: tuple[float, float, float]
    fallback: bool
    """Whether they are FALLBACK, because equation 26 has no answer."""


class Gram(NamedTuple):
    """A block of n-grams of one order as a model has them."""

    words: Rows
    """(k, n)"""
    probability: Floats
    """(k,) not log"""
    backoff: Floats
    """(k,) the weight of the lower order after these words; 1 where they are no context"""


def suffix_columns(words: int) -> Columns:
    """The order by the last word first."""
    return tuple(range(words - 1, -1, -1))


def adjust_counts(top: Iterable[Rows], order: int, prune: Sequence[int], folder: Path) -> list[Counts]:
    """Writes counts1 to counts{order} from the n-grams of the highest order and their counts, sorted by suffix."""
    tallies = [_Tally(folder / f"counts{n + 1}", n + 1, prune[n]) for n in range(order)]
    blocks: Iterator[Rows] = (np.concatenate([block, block[:, -1:]], axis=1) for block in top)
    for tally in reversed(tallies[1:]):
        blocks = _lower_order(tally.passing(blocks), tally.words)
    for _ in tallies[0].passing(blocks):
        pass
    return [Counts(tally.kept, tuple(tally.tally.tolist())) for tally in tallies]


class _Tally:
    """Writes and counts the n-grams of one order as they pass, without those that only lower orders follow from."""

    def __init__(self, path: Path, words: int, threshold: int) -> None:
        self.path, self.words, self.threshold = path, words, threshold
        self.kept = 0
        self.tally = np.zeros(_TALLIED, np.int64)

    def passing(self, blocks: Iterable[Rows]) -> Iterator[Rows]:
        with self.path.open("wb") as file:
            for block in blocks:
                real = block[block[:, 1] != BEGIN] if self.words > 1 else block
                np.ascontiguousarray(real).tofile(file)
                adjusted, count = real[:, self.words], real[:, self.words + 1]
                self.kept += int(np.count_nonzero(count > self.threshold))
                self.tally += np.bincount(adjusted[adjusted < _TALLIED], minlength=_TALLIED)
                yield block


def _lower_order(blocks: Iterable[Rows], words: int) -> Iterator[Rows]:
    """The n-grams of one word less."""
    suffix = range(1, words)
    for block in whole_groups(blocks, suffix):
        heads = group_heads(block, suffix)
        lower = np.empty((len(heads), words + 1), np.uint32)
        lower[:, :-2] = block[heads, 1:words]
        count = sum_counts(block[:, -1], heads)
        extensions = np.diff(heads, append=len(block))
        lower[:, -2] = np.where(lower[:, 0] == BEGIN, count, extensions)
        lower[:, -1] = count
        yield lower


def discounts_of(tally: Sequence[int]) -> Discounts:
    """Equation 26 of Chen & Goodman: D_j = j - (j + 1) Y n_{j+1} / n_j with Y = n_1 / (n_1 + 2 n_2)."""
    _, *n = tally
    if all(n[:3]):
        y = n[0] / (n[0] + 2 * n[1])
        one, two, three = (j - (j + 1) * y * n[j] / n[j - 1] for j in (1, 2, 3))
        if 0 <= one <= 1 and 0 <= two <= 2 and 0 <= three <= 3:
            return Discounts((one, two, three), False)
    return Discounts(FALLBACK, True)


def split_mass(folder: Path, words: int, discounts: Discounts, threshold: int, memory_bytes: int) -> None:
    """Makes parts{words} and shares{words - 1} out of counts{words}, for two words and more."""
    share = memory_bytes // _SORTERS
    by_context = Sorter(folder / "by_context", words + 2, tuple(range(words)), share)
    counts = folder / f"counts{words}"
    for block in read_rows(counts, words + 2, _block_rows(memory_bytes, words + 2)):
        by_context.add(block)
    counts.unlink()
    parts = Sorter(folder / "parts", words + 2, suffix_columns(words), share)
    shares = Sorter(folder / "shares", words, suffix_columns(words - 1), share)
    for block in by_context.blocks(words - 1):
        heads = group_heads(block, range(words - 1))
        own, lower = _masses(block[:, words], block[:, words + 1], heads, discounts, threshold)
        kept = block[:, words + 1] > threshold
        repeated = np.repeat(lower, np.diff(heads, append=len(block)))
        parts.add(np.column_stack([block[:, :words], _bits(own), _bits(repeated)])[kept])
        shares.add(np.column_stack([block[heads, : words - 1], _bits(lower)]))
    write_rows(folder / f"parts{words}", parts.blocks(words))
    write_rows(folder / f"shares{words - 1}", shares.blocks(words - 1))


def _masses(
    adjusted: npt.NDArray[np.uint32],
    count: npt.NDArray[np.uint32],
    heads: npt.NDArray[np.int64],
    discounts: Discounts,
    threshold: int,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """What each n-gram keeps for itself, and what each context leaves to the lower order."""
    numbers = adjusted.astype(np.float64)
    taken = np.array([0.0, *discounts.amounts])[np.minimum(adjusted, 3)]
    taken = np.where(count > threshold, taken, numbers)
    total = np.add.reduceat(numbers, heads)
    own = (numbers - taken) / np.repeat(total, np.diff(heads, append=len(adjusted)))
    return own, np.add.reduceat(taken, heads) / total


def sections(
    folder: Path, order: int, vocabulary: int, discounts: Discounts, memory_bytes: int
) -> Iterator[Iterator[Gram]]:
    """The n-grams of each order from 1 on, blocks sorted by suffix; each order must be read before the next.

    `discounts` are those of unigrams. `vocabulary`: all words, `<unk>`, `<s>` and `</s>` among them.
    """
    yield _with_backoffs(_unigrams(folder, vocabulary, discounts), folder, 1, order, memory_bytes)
    for words in range(2, order + 1):
        grams = _interpolated(folder, words, memory_bytes)
        yield _with_backoffs(grams, folder, words, order, memory_bytes)


def _unigrams(folder: Path, vocabulary: int, discounts: Discounts) -> Iterator[tuple[Rows, Floats]]:
    rows = np.fromfile(folder / "counts1", np.uint32).reshape(-1, 3)
    own, lower = _masses(rows[:, 1], rows[:, 2], np.zeros(1, np.int64), discounts, 0)
    probability = np.full(vocabulary, lower[0] / (vocabulary - 1))
    probability[rows[:, 0]] += own
    # Nothing predicts <s>: scored as a word it changes nothing.
    probability[BEGIN] = 1.0
    yield np.arange(vocabulary, dtype=np.uint32)[:, None], probability.astype(np.float32)


def _interpolated(folder: Path, words: int, memory_bytes: int) -> Iterator[tuple[Rows, Floats]]:
    """The n-grams of one order and their probabilities, from parts{words} and the probabilities of the order below."""
    lower = _Values(folder / f"probabilities{words - 1}", words - 1, memory_bytes)
    suffix = tuple(range(words - 1, 0, -1))
    for block in read_rows(folder / f"parts{words}", words + 2, _block_rows(memory_bytes, words + 2)):
        own, weight = _floats(block[:, words]), _floats(block[:, words + 1])
        yield block[:, :words], own + weight * lower.of(block, suffix, np.nan)


def _with_backoffs(
    grams: Iterator[tuple[Rows, Floats]], folder: Path, words: int, order: int, memory_bytes: int
) -> Iterator[Gram]:
    """Joins the weights of the order above, and writes probabilities{words} for it."""
    if words == order:
        for rows, probability in grams:
            yield Gram(rows, probability, np.ones(len(rows), np.float32))
        return
    shares = _Values(folder / f"shares{words}", words, memory_bytes)
    with (folder / f"probabilities{words}").open("wb") as file:
        for rows, probability in grams:
            np.column_stack([rows, _bits(probability)]).tofile(file)
            yield Gram(rows, probability, shares.of(rows, suffix_columns(words), 1.0))


class _Values:
    """A sorted file of n-grams with one float each, looked up in rising order."""

    def __init__(self, path: Path, words: int, memory_bytes: int) -> None:
        self._words, self._columns = words, suffix_columns(words)
        self._blocks = read_rows(path, words + 1, _block_rows(memory_bytes, words + 1))
        self._rows = np.empty((0, words + 1), np.uint32)

    def of(self, wanted: Rows, columns: Columns, missing: float) -> Floats:
        """(k,) the float of each row's words in `columns`, `missing` where the file has none."""
        values = np.full(len(wanted), missing, np.float32)
        begin = 0
        while begin < len(wanted):
            if not len(self._rows):
                more = next(self._blocks, None)
                if more is None:
                    break
                self._rows = more
            # One block at a time: between two that are wanted there may be any number that are not.
            last = self._rows[-1, list(self._columns)].tolist()
            end = bisect_right(
                range(len(wanted)), last, begin, key=lambda row: wanted[row, list(columns)].tolist()
            )
            found, before = find_rows(self._rows, self._columns, wanted[begin:end], columns)
            known = found >= 0
            values[begin:end][known] = _floats(self._rows[:, self._words])[found[known]]
            self._rows = self._rows[before:] if end == len(wanted) else self._rows[:0]
            begin = end
        return values


def _block_rows(memory_bytes: int, width: int) -> int:
    return max(memory_bytes // (64 * width), 16)


def _bits(values: npt.NDArray[np.floating]) -> npt.NDArray[np.uint32]:
    return values.astype(np.float32).view(np.uint32)


def _floats(column: npt.NDArray[np.uint32]) -> Floats:
    return np.ascontiguousarray(column).view(np.float32)
