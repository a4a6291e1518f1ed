"""Parquet to documents: only the text and id columns are read, a batch of rows at a time.

Decides: a row without text is a damage; a file without the column is an error that lists its columns; a file that
is not whole is a damage, since other files may be. Costs: Arrow's decoding; memory one row group of two columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from danlu.errors import InputError
from danlu.read.raw import Damage, Raw

_ROWS = 256


def read_parquet(path: Path, name: str, text_field: str, id_field: str, limit: int) -> Iterator[Raw | Damage]:
    """One document a row; `start` is the row number and `end` the next."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            columns = _columns(file, name, text_field, id_field)
            row = 0
            for batch in file.iter_batches(_ROWS, columns=columns):
                texts = batch.column(text_field).to_pylist()
                ids = batch.column(id_field).to_pylist() if id_field in columns else [None] * len(texts)
                for text, given in zip(texts, ids, strict=True):
                    yield _row(text, given, name, row, limit)
                    row += 1
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        yield Damage("corrupt", name, detail=str(error).splitlines()[0])


def _columns(file: pq.ParquetFile, name: str, text_field: str, id_field: str) -> list[str]:
    schema = file.schema_arrow
    if text_field not in schema.names:
        known = ", ".join(schema.names)
        raise InputError(f"{name} has no column {text_field!r}, only: {known}; set text_field in its source")
    kind = schema.field(text_field).type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise InputError(
            f"{name}: column {text_field!r} holds {kind}, not text; set text_field in its source"
        )
    return [field for field in dict.fromkeys((text_field, id_field)) if field in schema.names]


def _row(text: str | None, given: object, name: str, row: int, limit: int) -> Raw | Damage:
    if text is None:
        return Damage("missing_text", name, row, "the row has no text")
    if len(text) > limit or len(text.encode("utf-8", "replace")) > limit:
        return Damage("too_long", name, row, f"longer than {limit} bytes")
    return Raw(text, name, row, row + 1, id=None if given is None else str(given))
