"""Documents between two rounds: what survived the last one, with all that was measured of it.

Guarantees: what is read is what was written, or DamagedError; the file is whole or not there. Costs: zstd level 1;
memory one group of rows (about 8 MB of text) however large the shard.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from danlu.account.writing import new_parquet
from danlu.corpus.split import split_point
from danlu.errors import DamagedError
from danlu.records import Document
from danlu.words.text import Text, WordsSetting

_GROUP_BYTES, _GROUP_ROWS = 8_000_000, 8192
_BATCH_ROWS = 256
_FIELDS = ("id", "text", "source", "domain", "group", "start", "end", "given_id", "language")
_SCHEMA = pa.schema(
    [
        ("index", pa.int64()),
        ("read_bytes", pa.int64()),
        ("splitter", pa.string()),
        ("id", pa.string()),
        ("text", pa.large_string()),
        ("source", pa.string()),
        ("domain", pa.string()),
        ("group", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("given_id", pa.bool_()),
        ("language", pa.string()),
        ("metadata", pa.string()),
        ("values", pa.list_(pa.float64())),
    ]
)


@dataclass
class Passing:
    """One document on its way: `text` is what it is by now, `values` what the steps measured (NaN: not measured)."""

    index: int
    document: Document
    text: Text
    read_bytes: int
    values: list[float]
    splitter: str = ""
    """The last word splitter that a step used; empty where none split it."""
    point: float = field(init=False)
    """Where its group lies on the line that the split cuts."""

    def __post_init__(self) -> None:
        self.point = split_point(self.document.group)


@contextmanager
def write_carried(path: Path) -> Iterator[CarryWriter]:
    """A new file of the survivors of one shard, for the block."""
    repeated = ["source", "domain", "language", "splitter"]
    with new_parquet(path, _SCHEMA, compression_level=1, use_dictionary=repeated) as file:
        writer = CarryWriter(file)
        yield writer
        writer.flush()


class CarryWriter:
    """Collects documents into groups of rows."""

    def __init__(self, file: pq.ParquetWriter) -> None:
        self._file = file
        self._rows: list[Passing] = []
        self._bytes = 0

    def add(self, row: Passing) -> None:
        """Appends one document."""
        self._rows.append(row)
        self._bytes += len(row.text.text)
        if self._bytes >= _GROUP_BYTES or len(self._rows) >= _GROUP_ROWS:
            self.flush()

    def flush(self) -> None:
        """Writes what is collected."""
        columns = {
            "index": [row.index for row in self._rows],
            "read_bytes": [row.read_bytes for row in self._rows],
            "splitter": [row.splitter for row in self._rows],
            **{name: [getattr(row.document, name) for row in self._rows] for name in _FIELDS},
            "text": [row.text.text for row in self._rows],
            "language": [row.text.language for row in self._rows],
            "metadata": [json.dumps(dict(row.document.metadata), ensure_ascii=False) for row in self._rows],
            "values": _lists([row.values for row in self._rows]),
        }
        self._file.write_table(pa.table(columns, schema=_SCHEMA))
        self._rows, self._bytes = [], 0


def read_carried(path: Path, words: WordsSetting) -> Iterator[Passing]:
    """The documents in order; `words` is the recipe's setting of the word splitter."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            for batch in file.iter_batches(_BATCH_ROWS):
                yield from _passing(batch, words)
    except (pa.ArrowException, OSError, KeyError, UnicodeDecodeError) as error:
        raise DamagedError(
            f"{path} is damaged ({str(error).splitlines()[0]}); remove {path.parents[2]} and type the same command "
            f"again: the corpus is then built from the start"
        ) from error


def _lists(rows: list[list[float]]) -> pa.Array:
    """Lists of one length as a column, without a Python object for each number."""
    flat = np.array(rows, np.float64)
    width = len(rows[0]) if rows else 0
    offsets = np.arange(0, width * len(rows) + 1, width) if width else np.zeros(len(rows) + 1)
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(flat.ravel()))


def _passing(batch: pa.RecordBatch, words: WordsSetting) -> Iterator[Passing]:
    columns = {name: batch.column(name).to_pylist() for name in batch.schema.names if name != "values"}
    values = batch.column("values").flatten().to_numpy().reshape(len(batch), -1).tolist()
    for place in range(len(batch)):
        metadata = json.loads(columns["metadata"][place])
        named = {name: columns[name][place] for name in _FIELDS}
        document = Document(**named, metadata=metadata)
        text = Text(document.text, document.language, metadata, words)
        index, size = columns["index"][place], columns["read_bytes"][place]
        yield Passing(index, document, text, size, values[place], columns["splitter"][place])
