"""Writing the ledger: row by row while a shard is read, and the rounds' rows of a shard merged into its part.

Guarantees: a file appears whole or not at all; a merged part is in the order of the numbers. Costs: zstd level 3;
memory `GROUP_ROWS` rows however many there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from danlu.account.ledger import Row, schema_of, table_of
from danlu.files import TEMPORARY, disk_errors, sync_directory

GROUP_ROWS = 8_192
_WRITTEN: dict[str, Any] = {
    "compression_level": 3,
    "use_dictionary": ["domain", "source", "language", "splitter", "split", "step", "reason"],
}


@contextmanager
def new_parquet(path: Path, schema: pa.Schema, **options: Any) -> Iterator[pq.ParquetWriter]:
    """A new Parquet file with checked pages; `path` appears, durably, at the end of the block, if nothing failed."""
    fresh = path.with_name(f"{TEMPORARY}{path.name}")
    with disk_errors(path):
        try:
            with pq.ParquetWriter(
                fresh, schema, compression="zstd", write_statistics=False, write_page_checksum=True, **options
            ) as file:
                yield file
            sync_directory(fresh)
            fresh.replace(path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise


@contextmanager
def new_ledger(path: Path, measures: Sequence[str]) -> Iterator[LedgerWriter]:
    """A new ledger file for the block; `measures` are the names of every row's values."""
    with new_parquet(path, schema_of(measures), **_WRITTEN) as file:
        writer = LedgerWriter(file, measures)
        yield writer
        writer.flush()


class LedgerWriter:
    """Collects rows into groups. What is not Unicode in a row becomes "?"."""

    def __init__(self, file: pq.ParquetWriter, measures: Sequence[str]) -> None:
        self._file, self._measures = file, measures
        self._rows: list[Row] = []

    def add(self, row: Row) -> None:
        """Appends one document's row. Raises ValueError where it has another number of values."""
        if len(row.values) != len(self._measures):
            raise ValueError(f"{len(row.values)} values for {len(self._measures)} measures")
        self._rows.append(row)
        if len(self._rows) >= GROUP_ROWS:
            self.flush()

    def flush(self) -> None:
        """Writes what is collected."""
        self._file.write_table(table_of(self._rows, self._measures))
        self._rows = []


def merge_ledgers(paths: Sequence[Path], target: Path, documents: int) -> None:
    """Merges files of one shard, each in the order of its numbers, into `target`; places go up to `documents`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    windows = [_windows(path, documents) for path in paths]
    with new_parquet(target, pq.read_schema(paths[0]), **_WRITTEN) as file:
        for tables in zip(*windows, strict=True):
            rows = pa.concat_tables(tables)
            file.write_table(rows.take(pc.sort_indices(rows["number"])))


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
