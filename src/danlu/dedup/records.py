"""Files of records of one size, divided into groups: how tasks hand records to one another without holding them all.

Decides: a task writes one file; each later task reads its own group of every file. Guarantees: the records of a group
come back in the order in which they were added; a file is whole or absent; one that is shorter or longer than it says
is refused by name. Costs: in memory at most `SPILL_BYTES` of records and their groups while writing, however small the
arrays are that they come in, half as much again while that grows, thrice that while a segment is sorted; three small
reads a file and group.

    segment 0 sorted by group | segment 1 ... | int64 offsets (segments, groups + 1) in records | trailer
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from danlu.errors import DamagedError, MissingError
from danlu.files import TEMPORARY, disk_errors, sync_directory

Records = npt.NDArray[np.void]
Groups = npt.NDArray[np.int64]

SPILL_BYTES = 64 << 20
_MAGIC = b"danluRec"
ADVICE = "remove the work directory that it lies in and run again"
"""For a file that is not what was written: removing it alone would leave the rest of the build waiting for it."""
_TRAILER = np.dtype(
    [("magic", "S8"), ("record_bytes", "<i8"), ("groups", "<i8"), ("segments", "<i8"), ("records", "<i8")]
)


class RecordWriter:
    """Collects records and writes them by group; the file appears at `close`."""

    def __init__(self, path: Path, dtype: np.dtype[np.void], groups: int) -> None:
        self._path, self._dtype, self._groups = path, dtype, groups
        self._temporary = path.with_name(f"{TEMPORARY}{path.name}")
        self._records, self._group, self._waiting = np.empty(0, dtype), np.empty(0, np.int64), 0
        self._offsets: list[Groups] = []
        self._count = 0
        self._file: BinaryIO | None = None

    def add(self, records: Records, group: Groups) -> None:
        """(n,) records and (n,) the group of each, in [0, groups)."""
        if records.dtype != self._dtype or len(records) != len(group):
            raise ValueError(f"{len(records)} records of {records.dtype} for {len(group)} groups")
        most = SPILL_BYTES // (self._records.itemsize + self._group.itemsize)
        if self._waiting + len(records) > most:
            self._spill()
        if len(records) > most:
            # Is in memory as it is: a copy of it would come to that.
            self._write_segment(records, group)
        else:
            end = self._waiting + len(records)
            if end > len(self._records):
                self._grow(min(most, max(end, 2 * len(self._records))))
            self._records[self._waiting : end], self._group[self._waiting : end] = records, group
            self._waiting = end

    def close(self) -> None:
        """Writes what is left and gives the file its name."""
        self._spill()
        offsets = np.concatenate([*self._offsets, np.empty(0, np.int64)])
        trailer = np.zeros(1, _TRAILER)
        trailer[0] = (_MAGIC, self._dtype.itemsize, self._groups, len(self._offsets), self._count)
        with disk_errors(self._path):
            with self._opened() as file:
                file.write(offsets.astype("<i8").tobytes() + trailer.tobytes())
                file.flush()
                os.fsync(file.fileno())
            self._temporary.replace(self._path)
            sync_directory(self._path.parent)

    def _opened(self) -> BinaryIO:
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._temporary.open("wb")
        return self._file

    def _grow(self, capacity: int) -> None:
        records, group = np.empty(capacity, self._dtype), np.empty(capacity, np.int64)
        records[: self._waiting] = self._records[: self._waiting]
        group[: self._waiting] = self._group[: self._waiting]
        self._records, self._group = records, group

    def _spill(self) -> None:
        if self._waiting:
            self._write_segment(self._records[: self._waiting], self._group[: self._waiting])
            self._waiting = 0

    def _write_segment(self, records: Records, group: Groups) -> None:
        """One segment, stably sorted by group."""
        counts = np.bincount(group, minlength=self._groups)
        if len(counts) > self._groups:
            raise ValueError(f"group {len(counts) - 1} of {self._groups}")
        if self._groups > 1:
            # numpy sorts 16-bit keys by radix.
            keys = group.astype(np.uint16) if self._groups <= 1 << 16 else group
            records = records[np.argsort(keys, kind="stable")]
        self._offsets.append(self._count + np.concatenate(([0], np.cumsum(counts))).astype(np.int64))
        self._count += len(records)
        with disk_errors(self._path):
            self._opened().write(records.tobytes())


def write_records(path: Path, records: Records, group: Groups, groups: int) -> None:
    """A file of what is in memory already."""
    writer = RecordWriter(path, records.dtype, groups)
    writer.add(records, group)
    writer.close()


def read_group(path: Path, dtype: np.dtype[np.void], group: int) -> Records:
    """(n,) the records of one group. Raises MissingError, or DamagedError where the file is not what it says."""
    with _open_whole(path, dtype) as (file, trailer):
        groups, segments, records = int(trailer["groups"]), int(trailer["segments"]), int(trailer["records"])
        if not 0 <= group < groups:
            raise DamagedError(f"{path} has {groups} groups and no group {group}: {ADVICE}")
        slices = [np.empty(0, dtype)]
        for segment in range(segments):
            place = records * dtype.itemsize + (segment * (groups + 1) + group) * 8
            first, last = np.frombuffer(os.pread(file, 16, place), "<i8").tolist()
            slices.append(_read(file, dtype, first, last))
    return np.concatenate(slices)


def read_rows(path: Path, dtype: np.dtype[np.void], rows: Groups) -> Records:
    """(n,) the records at the given places of a file of one group; only their pages are read."""
    with _open_whole(path, dtype) as (_, trailer):
        count = int(trailer["records"])
    if not len(rows):
        return np.empty(0, dtype)
    return np.array(np.memmap(path, dtype, "r", shape=(count,))[rows])


def count_records(path: Path, dtype: np.dtype[np.void]) -> int:
    """How many records a file holds, in all groups."""
    with _open_whole(path, dtype) as (_, trailer):
        return int(trailer["records"])


@contextmanager
def _open_whole(path: Path, dtype: np.dtype[np.void]) -> Iterator[tuple[int, Any]]:
    """The file's descriptor and trailer, after comparing its length with what the trailer says."""
    try:
        file = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        raise MissingError(f"{path} does not exist: the task that writes it was not run") from None
    try:
        size = os.fstat(file).st_size
        tail = os.pread(file, _TRAILER.itemsize, max(size - _TRAILER.itemsize, 0))
        trailer = np.frombuffer(tail, _TRAILER)[0] if len(tail) == _TRAILER.itemsize else None
        if trailer is None or trailer["magic"] != _MAGIC or trailer["record_bytes"] != dtype.itemsize:
            raise DamagedError(f"{path} is not a whole file of records: {ADVICE}")
        offsets = int(trailer["segments"]) * (int(trailer["groups"]) + 1) * 8
        expected = int(trailer["records"]) * dtype.itemsize + offsets + _TRAILER.itemsize
        if size != expected:
            raise DamagedError(f"{path} has {size} bytes instead of {expected}: {ADVICE}")
        yield file, trailer
    finally:
        os.close(file)


def _read(file: int, dtype: np.dtype[np.void], first: int, last: int) -> Records:
    """Records [first, last), also where the system hands out less than was asked for at once."""
    records = np.empty(last - first, dtype)
    view = memoryview(records.data).cast("B") if len(records) else memoryview(b"")
    done = 0
    while done < len(view):
        count = os.preadv(file, [view[done:]], first * dtype.itemsize + done)
        if not count:
            raise DamagedError("a file of records became shorter while it was read: run again")
        done += count
    return records
