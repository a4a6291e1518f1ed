"""Read a source: every format to a stream of documents, each with an id, a place and a group.

Guarantees: the same source gives the same documents in the same order; a document has an id (its own, or the xxh3-128
of its text); a record that is damaged and a stream that ends early are handed to `damaged`, and the rest goes on.
Costs: the format's reader, one UTF-8 encoding and one hash.
"""

from __future__ import annotations

import codecs
import platform
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import xxhash

from danlu.errors import InputError
from danlu.read import python_text
from danlu.read.find import SourceFile, find_files
from danlu.read.jsonl import read_jsonl
from danlu.read.parquet import read_parquet
from danlu.read.plain import read_plain
from danlu.read.raw import Damage, Raw
from danlu.read.settings import FORMATS, PYTHON_PREFIX, Source, format_of
from danlu.read.streams import BrokenStreamError, open_stream
from danlu.records import Document

_PREVIEW_BYTES = 20_000_000


def read_documents(
    source: Source, base: Path, max_document_bytes: int, damaged: Callable[[Damage], None]
) -> Iterator[Document]:
    """The documents of a source, file by file in order of name; texts of Python first.

    Raises InputError where no file is found, a file is in another encoding, or its format cannot be told.
    """
    transcoded = codecs.lookup(source.encoding).name != "utf-8"
    for raw in _raw(source, base, max_document_bytes):
        if isinstance(raw, Damage):
            damaged(raw)
            continue
        # A transcoded stream has replaced what it could not decode before it was cut into texts.
        replaced = raw.text.count("\ufffd") if transcoded else raw.replaced
        if replaced:
            detail = f"{replaced} undecodable places became U+FFFD, from byte {raw.start} on"
            damaged(Damage("replaced_bytes", raw.source, detail=detail))
        yield _document(raw, source.domain, damaged)


def preview(source: Source, base: Path, count: int = 3) -> list[Document]:
    """The first documents as they were split, for a user to look at; what is damaged is counted by the real read."""
    return list(islice(read_documents(source, base, _PREVIEW_BYTES, lambda _: None), count))


def fingerprint(source: Source, base: Path) -> list[list[str | int]]:
    """What decides whether the input changed: name, size and time of each file, versions for texts of Python."""
    marks: list[list[str | int]] = [
        [file.name, file.size, file.mtime_ns] for file in find_files(source, base)
    ]
    for path in source.paths:
        if path.startswith(PYTHON_PREFIX):
            marks.append([path, platform.python_version()])
        if path == python_text.DOCS:
            marks += [[name, version] for name, version in python_text.list_distributions()]
    return marks


def _raw(source: Source, base: Path, limit: int) -> Iterator[Raw | Damage]:
    for path in source.paths:
        if path.startswith(PYTHON_PREFIX):
            yield from python_text.read_python(path, limit)
    for file in find_files(source, base):
        try:
            yield from _read_file(file, source, limit)
        except BrokenStreamError as error:
            yield Damage(error.reason, file.name, detail=error.detail)
        except PermissionError as error:
            raise InputError(f"{file.path} cannot be read: {error.strerror}") from error


def _read_file(file: SourceFile, source: Source, limit: int) -> Iterator[Raw | Damage]:
    kind = _format(file, source)
    if kind == "parquet":
        yield from read_parquet(file.path, file.name, source.text_field, source.id_field, limit)
        return
    with open_stream(file.path, source.encoding) as read:
        if kind == "jsonl":
            yield from read_jsonl(read, file.name, source.text_field, source.id_field, limit)
        else:
            yield from read_plain(read, file.name, source.document, limit)


def _format(file: SourceFile, source: Source) -> str:
    if source.format != "auto":
        return source.format
    kind = format_of(file.path.name)
    if kind is None:
        raise InputError(
            f"{file.name}: its name ends in none of {', '.join(FORMATS)} (or those with .gz, .zst); "
            f'set format = "txt" in its [[corpus.source]] to read it as plain text, or narrow the globs'
        )
    return kind


def _document(raw: Raw, domain: str, damaged: Callable[[Damage], None]) -> Document:
    text = raw.text
    try:
        data = text.encode()
    except UnicodeEncodeError:
        # Pairs that were escaped one by one are joined by the way over UTF-16; what is left alone is replaced.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        data = text.encode()
        damaged(Damage("lone_surrogates", raw.source, detail=f"replaced by U+FFFD, from byte {raw.start} on"))
    given = None if raw.id is None else raw.id.encode("utf-8", "replace").decode()
    number = given if given is not None else xxhash.xxh3_128_hexdigest(data)
    group = raw.group if raw.group is not None else number
    return Document(number, text, raw.source, domain, group, raw.start, raw.end, given is not None)
