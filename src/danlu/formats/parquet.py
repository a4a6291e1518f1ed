"""Parquet to documents: only the columns of text, id and metadata are read, a batch of rows at a time.

Decides: a row without text is a damage; a file without the column is an error that lists its columns; a file that
is not whole is a damage, since other files may be; bytes that are not UTF-8 become U+FFFD and are counted with their
row, and a list or the like that holds some is left out of the metadata. Costs: Arrow's decoding; memory one row group
of those columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from danlu.errors import InputError
from danlu.extract.encoding import decode_line
from danlu.extract.record import Fields, NoTextError, id_of, metadata_of, text_of
from danlu.formats.raw import Damage, Raw
from danlu.formats.streams import open_file

_ROWS = 256
_BROKEN = (pa.ArrowException, OSError, UnicodeDecodeError)

_Record = tuple[dict[str, Any], list[tuple[str, str]]]
"""The values of a row, and the damages in it as reason and detail."""


def read_parquet(
    path: Path | str, name: str, fields: Fields, limit: int, start: int = 0, end: int | None = None
) -> Iterator[Raw | Damage]:
    """One document a row of the row groups [start, end); `start` of a document is the row number, `end` the next."""
    with open_file(path) as source:
        try:
            with pq.ParquetFile(source, page_checksum_verification=True) as file:
                columns = _columns(file.schema_arrow, name, fields)
                sizes = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
                row = sum(sizes[:start])
                groups = list(range(len(sizes)))[start:end]
                for batch in file.iter_batches(_ROWS, row_groups=groups, columns=columns):
                    for record, damages in _records(batch):
                        yield from (Damage(reason, name, row, detail) for reason, detail in damages)
                        yield _row(record, fields, name, row, limit)
                        row += 1
        except _BROKEN as error:
            yield Damage("corrupt", name, detail=(str(error).splitlines() or ["no reason given"])[0])


def row_group_bytes(path: Path | str) -> list[int]:
    """The compressed bytes of each row group; none where the file is not whole, which its reader counts."""
    with open_file(path) as source:
        try:
            with pq.ParquetFile(source) as file:
                groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
                return [
                    sum(group.column(place).total_compressed_size for place in range(group.num_columns))
                    for group in groups
                ]
        except _BROKEN:
            return []


def _columns(schema: pa.Schema, name: str, fields: Fields) -> list[str]:
    key = "template" if fields.template else "text_field"
    known = ", ".join(schema.names)
    for wanted in fields.of_text:
        if wanted not in schema.names:
            raise InputError(f"{name} has no column {wanted!r}, only: {known}; set {key} in its source")
        kind = schema.field(wanted).type
        if not (_is_text(kind) or (fields.template and _is_number(kind))):
            raise InputError(f"{name}: column {wanted!r} holds {kind}, not text; set {key} in its source")
    for wanted in fields.metadata:
        if wanted not in schema.names:
            raise InputError(
                f"{name} has no column {wanted!r}, only: {known}; set metadata_fields in its source"
            )
    used = dict.fromkeys((*fields.of_text, fields.id, *fields.of_metadata))
    return [field for field in used if field in schema.names]


def _is_text(kind: pa.DataType) -> bool:
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(
        pa.types.is_string(plain) or pa.types.is_large_string(plain) or pa.types.is_string_view(plain)
    )


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _records(batch: pa.RecordBatch) -> list[_Record]:
    """The rows of a batch, each with the reason and detail of what in it is not UTF-8."""
    try:
        return [(record, []) for record in batch.to_pylist()]
    except UnicodeDecodeError:
        rows: list[_Record] = [({}, []) for _ in range(batch.num_rows)]
    for column, values in zip(batch.schema.names, batch.columns, strict=True):
        plain = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
        is_text = _is_text(values.type)
        cells = plain.cast(pa.large_binary()) if is_text else plain
        for (record, damages), cell in zip(rows, cells, strict=True):
            record[column] = _cell(column, cell, is_text, damages)
    return rows


def _cell(column: str, cell: pa.Scalar, is_text: bool, damages: list[tuple[str, str]]) -> Any:
    try:
        value = cell.as_py()
    except UnicodeDecodeError as error:
        damages.append(("undecodable", f"{column!r} is left out: {error}"))
        return None
    if not is_text or value is None:
        return value
    text, replaced = decode_line(value)
    if replaced:
        damages.append(("replaced_bytes", f"{replaced} undecodable places of {column!r} became U+FFFD"))
    return text


def _row(record: dict[str, Any], fields: Fields, name: str, row: int, limit: int) -> Raw | Damage:
    try:
        text = text_of(record, fields)
    except NoTextError as error:
        return Damage("missing_text", name, row, str(error))
    if len(text) > limit or len(text.encode("utf-8", "replace")) > limit:
        return Damage("too_long", name, row, f"longer than {limit} bytes")
    metadata = metadata_of(record, fields)
    return Raw(text, name, row, row + 1, id=id_of(record, fields), metadata=metadata)
