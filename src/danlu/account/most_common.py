"""The most common of many numbers, counted in bounded memory.

Decides: up to a limit of different numbers every count is kept; of more, rare ones are forgotten as by Misra and Gries
(1982), and counts are too low by at most what `lost` says. Guarantee: the same numbers in the same order give the same
answer. Costs: a sort for every `limit` numbers, some millions of numbers a second; memory for twice the limit.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Longs = npt.NDArray[np.int64]

LIMIT = 1 << 20
"""Different numbers."""

_SPARE = 1_000


class MostCommon:
    """Numbers with their counts; `lost` is the most that a count may be too low.

    It is at most (all numbers that were added / half of the limit).
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._numbers, self._counts = np.empty(0, np.int64), np.empty(0, np.int64)
        self._waiting: list[Longs] = []
        self._rows = 0
        self.lost = 0

    def add(self, numbers: Longs) -> None:
        """Counts each of (n,) once more."""
        self._waiting.append(numbers)
        self._rows += len(numbers)
        if self._rows >= self._limit:
            self._fold()

    def largest(self, count: int) -> Longs:
        """(n,) the most common first, the lower number first of equals; some to spare where counts are not exact."""
        self._fold()
        spare = _SPARE if self.lost else 0
        return self._numbers[np.lexsort((self._numbers, -self._counts))[: count + spare]]

    def _fold(self) -> None:
        numbers, inverse = np.unique(np.concatenate([self._numbers, *self._waiting]), return_inverse=True)
        each = np.concatenate([self._counts, np.ones(self._rows, np.int64)])
        counts = np.bincount(inverse, each, len(numbers)).astype(np.int64)
        if len(numbers) > self._limit:
            # Merged as by Agarwal et al. 2012: what is taken off each of the larger half bounds how often this happens.
            taken = np.partition(counts, -self._limit // 2 - 1)[-self._limit // 2 - 1]
            numbers, counts = numbers[counts > taken], counts[counts > taken] - taken
            self.lost += int(taken)
        self._numbers, self._counts, self._waiting, self._rows = numbers, counts, [], 0
