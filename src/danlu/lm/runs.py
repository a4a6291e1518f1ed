"""Rows of integers sorted on disk: sorted runs are spilled when memory is full and merged block by block.

A row is W uint32: words of an n-gram and what goes with them. Guarantees: the order depends on the rows alone, never on
the memory. Costs: about `memory_bytes`, where no group is larger; each spilled row is written and read once; 100 ns
a row. Sorting is by least significant digit first: 11 bits of one column a pass.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from numba import njit

Rows = npt.NDArray[np.uint32]
"""(n, W)"""
Columns = tuple[int, ...]
"""The columns that rows are sorted by, the one that counts most first."""

_DIGIT_BITS = 11
_COPIES = 3
"""A buffer, the sorted copy of it, and the permutation."""


class Sorter:
    """Takes rows in any order and gives them sorted. `combine` makes sorted rows that are equal one, where given."""

    def __init__(
        self,
        folder: Path,
        width: int,
        columns: Columns,
        memory_bytes: int,
        combine: Callable[[Rows], Rows] | None = None,
    ) -> None:
        self.folder, self.width, self.columns, self.combine = folder, width, columns, combine
        self.most_rows = max(memory_bytes // (4 * width * _COPIES), 16)
        self.runs: list[Path] = []
        self._buffer = np.empty((self.most_rows, width), np.uint32)
        self._filled = 0
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, rows: Rows) -> None:
        """Takes more rows (n, width)."""
        while len(rows):
            taken = min(len(rows), self.most_rows - self._filled)
            self._buffer[self._filled : self._filled + taken] = rows[:taken]
            self._filled += taken
            rows = rows[taken:]
            if self._filled == self.most_rows:
                self._compact()

    def blocks(self, group: int) -> Iterator[Rows]:
        """All rows sorted, in blocks; rows that are equal in the first `group` columns are in one block. Once only."""
        last = self._sorted(self._buffer[: self._filled])
        self._buffer, self._filled = np.empty((0, self.width), np.uint32), 0
        if not self.runs:
            if len(last):
                yield last
            return
        self._spill(last)
        yield from self._merge(group)
        for path in self.runs:
            path.unlink()

    def _sorted(self, rows: Rows) -> Rows:
        ordered = sort_rows(rows, self.columns)
        return self.combine(ordered) if self.combine else ordered

    def _compact(self) -> None:
        """Sorts the full buffer. What equal rows leave of it stays, where that is little; else it is spilled."""
        ordered = self._sorted(self._buffer)
        if 2 * len(ordered) <= self.most_rows:
            self._buffer[: len(ordered)] = ordered
            self._filled = len(ordered)
        else:
            self._spill(ordered)
            self._filled = 0

    def _spill(self, ordered: Rows) -> None:
        path = self.folder / f"run{len(self.runs)}"
        ordered.tofile(path)
        self.runs.append(path)

    def _merge(self, group: int) -> Iterator[Rows]:
        most = max(self.most_rows // len(self.runs), 16)
        runs = [_Run(path, self.width, most) for path in self.runs]
        keys = self.columns[:group]
        while runs := [run for run in runs if run.fill()]:
            going = [run for run in runs if not run.ended]
            bound = min((run.key(-1, keys) for run in going), default=None)
            parts = [run.take(bound, keys) for run in runs]
            if sum(map(len, parts)):
                yield self._sorted(np.concatenate(parts))
            else:
                # The group at the bound is larger than the block: more of it has to be in memory.
                for run in going:
                    if run.key(-1, keys) == bound:
                        run.extend()


class _Run:
    """A sorted file, read by blocks."""

    def __init__(self, path: Path, width: int, most_rows: int) -> None:
        self._blocks = read_rows(path, width, most_rows)
        self.rows = np.empty((0, width), np.uint32)
        self.ended = False

    def fill(self) -> bool:
        """Whether there are rows, after reading some where there were none."""
        if not len(self.rows) and not self.ended:
            self.extend()
        return len(self.rows) > 0

    def extend(self) -> None:
        """Reads another block."""
        more = next(self._blocks, None)
        self.ended = more is None
        if more is not None:
            self.rows = np.concatenate([self.rows, more])

    def key(self, row: int, columns: Columns) -> list[int]:
        """What a row is sorted by."""
        found: list[int] = self.rows[row, columns].tolist()
        return found

    def take(self, bound: list[int] | None, columns: Columns) -> Rows:
        """The rows before those that begin with `bound`; all without one."""
        count = len(self.rows)
        if bound is not None:
            count = bisect_left(range(count), bound, key=lambda row: self.key(row, columns))
        taken, self.rows = self.rows[:count], self.rows[count:]
        return taken


def read_rows(path: Path, width: int, most_rows: int) -> Iterator[Rows]:
    """The rows of a file in blocks of up to `most_rows`."""
    with path.open("rb") as file:
        while len(flat := np.fromfile(file, np.uint32, most_rows * width)):
            yield flat.reshape(-1, width)


def write_rows(path: Path, blocks: Iterable[Rows]) -> Path:
    """Writes blocks of rows one after the other."""
    with path.open("wb") as file:
        for block in blocks:
            np.ascontiguousarray(block).tofile(file)
    return path


def whole_groups(blocks: Iterable[Rows], columns: Sequence[int]) -> Iterator[Rows]:
    """The same sorted rows, cut so that those that are equal in `columns` are in one block."""
    held: Rows | None = None
    for block in blocks:
        rows = block if held is None else np.concatenate([held, block])
        heads = group_heads(rows, columns)
        if len(heads) > 1:
            yield rows[: heads[-1]]
        held = rows[heads[-1] :] if len(heads) else None
    if held is not None:
        yield held


def group_heads(rows: Rows, columns: Sequence[int]) -> npt.NDArray[np.int64]:
    """The numbers of the rows that differ in `columns` from the one before, the first included."""
    fresh = np.ones(len(rows), np.bool_)
    if len(rows):
        fresh[1:] = False
        for column in columns:
            fresh[1:] |= rows[1:, column] != rows[:-1, column]
    return np.flatnonzero(fresh)


def find_rows(
    rows: Rows, columns: Columns, wanted: Rows, wanted_columns: Columns
) -> tuple[npt.NDArray[np.int64], int]:
    """The row that is equal to each of `wanted`, -1 where none is, and how many rows come before the last wanted.

    Both must be sorted by the columns named for each, which are compared in turn.
    """
    return _find(
        np.ascontiguousarray(rows[:, list(columns)]), np.ascontiguousarray(wanted[:, list(wanted_columns)])
    )


def sort_rows(rows: Rows, columns: Columns) -> Rows:
    """A sorted copy; equal rows keep their order."""
    return rows[_order(rows, np.array(columns[::-1], np.int64))]


@njit(cache=True, nogil=True)
def _order(rows: Rows, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """(n,) the permutation that sorts by `columns`, the one that counts least first."""
    count = rows.shape[0]
    order = np.arange(count)
    target = np.empty(count, np.int64)
    mask = np.uint32((1 << _DIGIT_BITS) - 1)
    for column in columns:
        for shift in range(0, 32, _DIGIT_BITS):
            places = np.zeros(mask + 2, np.int64)
            for row in range(count):
                places[((rows[row, column] >> np.uint32(shift)) & mask) + 1] += 1
            # A digit that all rows have in common, as the high ones mostly are, sorts nothing.
            if count == 0 or places[((rows[0, column] >> np.uint32(shift)) & mask) + 1] == count:
                continue
            for digit in range(mask):
                places[digit + 1] += places[digit]
            for number in range(count):
                row = order[number]
                value = (rows[row, column] >> np.uint32(shift)) & mask
                target[places[value]] = row
                places[value] += 1
            order, target = target, order
    return order


@njit(cache=True, nogil=True)
def _find(rows: Rows, wanted: Rows) -> tuple[npt.NDArray[np.int64], int]:
    """Two pointers over rows sorted by all of their columns from left to right."""
    found = np.full(wanted.shape[0], -1, np.int64)
    place = 0
    for number in range(wanted.shape[0]):
        while place < rows.shape[0]:
            order = 0
            for column in range(rows.shape[1]):
                if rows[place, column] != wanted[number, column]:
                    order = -1 if rows[place, column] < wanted[number, column] else 1
                    break
            if order == 0:
                found[number] = place
            if order >= 0:
                break
            place += 1
    return found, place
