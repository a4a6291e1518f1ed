"""The ledger of a corpus: one row for every document that was read, with what was measured and what was decided.

Layout: corpus/ledger/part-00000.parquet, one part a shard; the fixed columns below, then one float64 column a measure,
named "step.measure", and one for what a step cuts. A document's number is its shard << 32 plus its place in the shard,
so a number names its part.
Guarantees: every page carries a checksum that is verified on read; what is read is what was written (writing.py).
Costs: 100 to 300 bytes a document; readers hold one batch of 8,192 rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from danlu.errors import DamagedError, MissingError

NO_MATCH = -1
"""`match` of a document that matched none."""

CUT_BYTES = "cut_bytes"
"""The column "step.cut_bytes" of a step that rewrites: UTF-8 that it took out of a text; null where it took none."""

EMPTIED = math.inf
"""`cut_bytes` of a text of which a step left nothing to see."""

NOTHING_LEFT = "nothing_left"
"""The reason's own part where a step left nothing."""

EXCERPT_CHARACTERS = 240
"""How much of a dropped text its row keeps."""

_FIXED = pa.schema(
    [
        ("number", pa.int64()),
        ("id", pa.string()),
        ("domain", pa.string()),
        ("source", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("language", pa.string()),
        ("splitter", pa.string()),
        ("url", pa.string()),
        ("bytes", pa.int64()),
        ("kept_bytes", pa.int64()),
        ("split", pa.string()),
        ("step", pa.string()),
        ("reason", pa.string()),
        ("match", pa.int64()),
        ("pair", pa.int64()),
        ("similarity", pa.float32()),
        ("excerpt", pa.string()),
    ]
)
_BATCH_ROWS = 8_192
_PLACE_BITS = 32


@dataclass(frozen=True, slots=True)
class Row:
    """One document that was read. `values` are its measures in the order of the part's, NaN where not measured."""

    number: int
    id: str
    domain: str
    source: str
    start: int
    end: int
    bytes: int
    """UTF-8 as read."""
    split: str
    """The side that it is on, also where it was dropped."""
    language: str = ""
    splitter: str = ""
    url: str = ""
    kept_bytes: int = 0
    """UTF-8 after cleaning; 0 where it was dropped."""
    step: str = ""
    reason: str = ""
    """ "" is kept, else with the step in front, e.g. "gopher_quality.short_doc"."""
    match: int = NO_MATCH
    """The number of the document that stays in its place."""
    pair: int = NO_MATCH
    """The number of the document that it was compared with, which may have gone for `match` itself."""
    similarity: float = math.nan
    """Jaccard similarity of it and `pair`."""
    excerpt: str = ""
    """The beginning of the text as it was when it was dropped; "" where it was kept."""
    values: tuple[float, ...] = ()


def excerpt_of(text: str) -> str:
    """What a row keeps of a text."""
    return text[:EXCERPT_CHARACTERS]


def shard_of(number: int) -> int:
    """The shard that a document was read in."""
    return number >> _PLACE_BITS


def ledger_path(corpus: Path, shard: int) -> Path:
    """Where the part of a shard lies."""
    return corpus / "ledger" / f"part-{shard:05d}.parquet"


def list_ledger(corpus: Path) -> list[Path]:
    """The parts by ascending shard. Raises MissingError where there are none."""
    parts = sorted((corpus / "ledger").glob("part-*.parquet"), key=lambda path: (len(path.name), path.name))
    if not parts:
        raise MissingError(f"there is no ledger in {corpus}; `danlu corpus build` writes it")
    return parts


def schema_of(measures: Sequence[str]) -> pa.Schema:
    """The columns of a ledger; `measures` are the names of every row's values."""
    return pa.schema([*_FIXED, *((name, pa.float64()) for name in measures)])


def table_of(rows: Sequence[Row], measures: Sequence[str]) -> pa.Table:
    """Rows as a table of `schema_of(measures)`. What is not Unicode becomes "?"; every row has a value a measure."""
    columns = [_column([getattr(row, field.name) for row in rows], field.type) for field in _FIXED]
    values = np.array([row.values for row in rows], dtype=np.float64).reshape(len(rows), len(measures))
    columns += [pa.array(values[:, i], pa.float64(), from_pandas=True) for i in range(len(measures))]
    return pa.Table.from_arrays(columns, schema=schema_of(measures))


def read_ledger(corpus: Path, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """Batches of the named columns, or of all, in the order of the numbers; a measure is null where not measured.

    Raises MissingError where there is no ledger or no such column, DamagedError where a page is not what was written.
    """
    for path in list_ledger(corpus):
        yield from _batches(path, columns)


def list_measures(corpus: Path) -> tuple[str, ...]:
    """The measure columns of a ledger, in the order in which they were written."""
    path = list_ledger(corpus)[0]
    with part_damage(path), pq.ParquetFile(path) as file:
        return tuple(file.schema_arrow.names[len(_FIXED) :])


def find_rows(corpus: Path, key: str | int) -> list[Row]:
    """The rows of a document's id (several domains may use the same one), or of its number; empty where none is."""
    if isinstance(key, int):
        return list(find_numbers(corpus, [key]).values())
    return [row for path in list_ledger(corpus) for row in _find(path, "id", [_unicode(key)])]


def find_numbers(corpus: Path, numbers: Iterable[int]) -> dict[int, Row]:
    """The rows of documents by their numbers; a document of an earlier corpus has none."""
    by_shard: dict[int, set[int]] = {}
    for number in numbers:
        by_shard.setdefault(shard_of(number), set()).add(number)
    found: dict[int, Row] = {}
    for shard, wanted in sorted(by_shard.items()):
        path = ledger_path(corpus, shard)
        if path.is_file():
            found.update((row.number, row) for row in _find(path, "number", sorted(wanted)))
    return found


def _find(path: Path, column: str, keys: list[str] | list[int]) -> Iterator[Row]:
    """Looks the keys up in one column, and reads the others only of row groups that hold one."""
    with part_damage(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        for group in range(file.num_row_groups):
            cells = file.read_row_group(group, [column])[column]
            places = pc.indices_nonzero(pc.is_in(cells, pa.array(keys, cells.type)))
            if len(places):
                for batch in file.read_row_group(group).take(places).to_batches():
                    yield from _rows(batch)


def _batches(path: Path, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    with part_damage(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        missing = sorted(set(columns or ()) - set(file.schema_arrow.names))
        if missing:
            raise MissingError(f"{path} has no column {missing[0]!r}; build the corpus again to measure it")
        for batch in file.iter_batches(_BATCH_ROWS, columns=None if columns is None else list(columns)):
            # Parquet's readers keep their own order of columns.
            yield batch if columns is None else batch.select(list(columns))


def _rows(batch: pa.RecordBatch) -> Iterator[Row]:
    fixed = [batch.column(name).to_pylist() for name in _FIXED.names]
    measures = batch.column_names[len(_FIXED) :]
    values = np.column_stack([measure_values(batch, name) for name in measures]) if measures else None
    for place, fields in enumerate(zip(*fixed, strict=True)):
        named: dict[str, Any] = dict(zip(_FIXED.names, fields, strict=True))
        named["similarity"] = math.nan if named["similarity"] is None else named["similarity"]
        yield Row(**named, values=() if values is None else tuple(values[place].tolist()))


def measure_values(batch: pa.RecordBatch, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A measure's column as float64 (rows,), NaN where not measured."""
    column = pc.fill_null(batch.column(name), math.nan)
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_floating(kind):
        return pa.array(np.array(values, dtype=np.float32), kind, from_pandas=True)
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:
        return pa.array([_unicode(value) for value in values], kind)


def _unicode(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


@contextmanager
def part_damage(path: Path) -> Iterator[None]:
    """Turns what goes wrong while a part is read into an error that names it and says what to do."""
    try:
        yield
    except FileNotFoundError:
        raise MissingError(f"{path} does not exist; build the corpus again") from None
    except (pa.ArrowException, KeyError, OSError, UnicodeDecodeError) as error:
        raise DamagedError(
            f"{path} is damaged ({str(error).splitlines()[0]}); remove {path.parents[1]} and type the same "
            f"command again to build it anew"
        ) from error
