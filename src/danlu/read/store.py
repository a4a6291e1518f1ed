"""The corpus on disk: Parquet parts of documents, one folder a split and domain.

Layout: corpus/{train,validation}/<domain>/part-00000.parquet, columns id, text, source, group, start, end, language,
metadata (as JSON). The tokenizer and the shards read the corpus only through this file. Guarantees: a part is whole or
not there, and every page carries a checksum that is verified on read. Costs: zstd level 3; memory one part (about 64 MB
of text).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from danlu.errors import DamagedError, MissingError
from danlu.files import write_bytes
from danlu.records import Document

PART_BYTES = 64_000_000
"""UTF-8 text of one part; the last of a domain holds the rest."""

_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("text", pa.large_string()),
        ("source", pa.string()),
        ("group", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("language", pa.string()),
        ("metadata", pa.string()),
    ]
)
_ROW_GROUP_ROWS = 8192
_BATCH_ROWS = 1024


def part_path(corpus: Path, split: str, domain: str, number: int) -> Path:
    """Where part `number` of a domain lies."""
    return corpus / split / domain / f"part-{number:05d}.parquet"


def write_part(path: Path, documents: Iterable[Document]) -> None:
    """Writes one part atomically; the domain is the name of its folder. A full disk leaves nothing behind."""
    rows = list(documents)
    columns = [[_stored(row, name) for row in rows] for name in _SCHEMA.names]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
    sink = pa.BufferOutputStream()
    pq.write_table(
        pa.Table.from_arrays(arrays, schema=_SCHEMA),
        sink,
        row_group_size=_ROW_GROUP_ROWS,
        compression="zstd",
        compression_level=3,
        use_dictionary=["source", "group", "language"],
        write_statistics=False,
        write_page_checksum=True,
    )
    write_bytes(path, sink.getvalue())


def _stored(row: Document, name: str) -> Any:
    """The value of a column: the field itself, metadata as JSON with its keys in order."""
    if name == "metadata":
        return json.dumps(dict(row.metadata), ensure_ascii=False, sort_keys=True)
    return getattr(row, name)


def read_part(path: Path) -> Iterator[Document]:
    """The documents of one part, in order. Raises DamagedError where a page is not what was written."""
    domain = path.parent.name
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            for batch in file.iter_batches(_BATCH_ROWS):
                columns = (batch.column(name).to_pylist() for name in _SCHEMA.names)
                for number, text, source, group, start, end, language, metadata in zip(*columns, strict=True):
                    yield Document(
                        *(number, text, source, domain, group, start, end),
                        metadata=json.loads(metadata),
                        language=language,
                    )
    except FileNotFoundError:
        raise MissingError(f"{path} does not exist; build the corpus again") from None
    except (pa.ArrowException, KeyError, OSError, ValueError) as error:
        raise DamagedError(
            f"{path} is damaged ({str(error).splitlines()[0]}); remove {path.parents[2]} and type the same "
            f"command again to build it anew"
        ) from error


def list_parts(corpus: Path, split: str, domain: str) -> list[Path]:
    """The parts of a domain in order; none where the split has no such domain."""
    parts = (corpus / split / domain).glob("part-*.parquet")
    # By number: numbers of six digits are longer names.
    return sorted(parts, key=lambda path: (len(path.name), path.name))


def list_domains(corpus: Path, split: str) -> list[str]:
    """The domains of a split, sorted. Raises MissingError where there is no corpus at all."""
    if not corpus.is_dir():
        raise MissingError(f"there is no corpus in {corpus}; `danlu corpus build` makes it")
    if not (corpus / split).is_dir():
        return []
    return sorted(path.name for path in (corpus / split).iterdir() if list_parts(corpus, split, path.name))
