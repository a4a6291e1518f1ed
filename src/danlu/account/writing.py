"""Writing the ledger: row by row while a shard is read, and the rounds' rows of a shard merged into its part.

Guarantees: a file appears whole or not at all; a merged part is in the order of the numbers. Costs: zstd level 3;
memory `GROUP_ROWS` rows however many there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from danlu.account.ledger import Row, schema_of, table_of
from danlu.files import TEMPORARY, disk_errors, sync_directory

GROUP_ROWS = 8_192
_WRITTEN: dict[str, Any] = {
    "compression": "zstd",
    "compression_level": 3,
    "use_dictionary": ["domain", "source", "language", "splitter", "split", "step", "reason"],
    "write_statistics": False,
    "write_page_checksum": True,
}


class LedgerWriter:
    """A new ledger file; `path` appears at the end of the `with` block, if nothing failed.

    `measures` are the names of every row's values. What is not Unicode in a row becomes "?".
    """

    def __init__(self, path: Path, measures: Sequence[str]) -> None:
        self._path, self._measures = path, measures
        self._fresh = path.with_name(f"{TEMPORARY}{path.name}")
        self._rows: list[Row] = []

    def __enter__(self) -> LedgerWriter:
        with disk_errors(self._path):
            self._file = pq.ParquetWriter(self._fresh, schema_of(self._measures), **_WRITTEN)
        return self

    def add(self, row: Row) -> None:
        """Appends one document's row. Raises ValueError where it has another number of values."""
        if len(row.values) != len(self._measures):
            raise ValueError(f"{len(row.values)} values for {len(self._measures)} measures")
        self._rows.append(row)
        if len(self._rows) >= GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        with disk_errors(self._path):
            self._file.write_table(table_of(self._rows, self._measures))
        self._rows = []

    def __exit__(self, kind: type[BaseException] | None, _: object, __: TracebackType | None) -> None:
        with disk_errors(self._path):
            if kind is None:
                self._flush()
            self._file.close()
            if kind is None:
                sync_directory(self._fresh)
                self._fresh.replace(self._path)
            else:
                self._fresh.unlink()


def merge_ledgers(paths: Sequence[Path], target: Path, documents: int) -> None:
    """Merges files of one shard, each in the order of its numbers, into `target`; places go up to `documents`."""
    fresh = target.with_name(f"{TEMPORARY}{target.name}")
    with disk_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        windows = [_windows(path, documents) for path in paths]
        with pq.ParquetWriter(fresh, pq.read_schema(paths[0]), **_WRITTEN) as file:
            for tables in zip(*windows, strict=True):
                rows = pa.concat_tables(tables)
                file.write_table(rows.take(pc.sort_indices(rows["number"])))
        sync_directory(fresh)
        fresh.replace(target)


def _windows(path: Path, documents: int) -> Iterator[pa.Table]:
    """The rows of each next `GROUP_ROWS` places; a window may have none."""
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        batches = file.iter_batches(GROUP_ROWS)
        waiting = pa.table(file.schema_arrow.empty_table())
        for end in range(GROUP_ROWS, documents + GROUP_ROWS, GROUP_ROWS):
            while not len(waiting) or _place(waiting, -1) < end:
                batch = next(batches, None)
                if batch is None:
                    break
                waiting = pa.concat_tables([waiting, pa.Table.from_batches([batch])])
            inside = pc.less(pc.bit_wise_and(waiting["number"], 0xFFFFFFFF), end)
            count = pc.sum(inside).as_py() or 0
            yield waiting.slice(0, count)
            waiting = waiting.slice(count)


def _place(table: pa.Table, row: int) -> int:
    """The place in its shard of a row's document."""
    return int(table["number"][row].as_py()) & 0xFFFFFFFF
