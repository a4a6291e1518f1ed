"""Read a source: every format to a stream of documents, each with an id, a place and a group.

Guarantees: the same source gives the same documents in the same order, read whole or piece by piece; a document has an
id (its own, or the xxh3-128 of its text); a record that is damaged and a stream that ends early are handed to
`damaged`, and the rest goes on. Costs: the format's reader, one UTF-8 encoding and one hash.
"""

from __future__ import annotations

import codecs
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

import xxhash

from danlu.errors import InputError
from danlu.extract.guard import Extractor
from danlu.extract.packed import BrokenStreamError
from danlu.extract.record import Fields
from danlu.formats import python_text
from danlu.formats.books import open_books, read_book
from danlu.formats.code import read_code, read_repository
from danlu.formats.dumps import read_dump
from danlu.formats.jsonl import read_jsonl
from danlu.formats.markdown import read_markdown
from danlu.formats.pages import read_archive, read_page
from danlu.formats.parquet import read_parquet
from danlu.formats.plain import read_plain
from danlu.formats.raw import Damage, Piece, Raw
from danlu.formats.sections import SECTION, Joined
from danlu.formats.settings import (
    COMPRESSIONS,
    FORMATS,
    GUARDED,
    PYTHON_PREFIX,
    Family,
    format_of,
    formats_in,
)
from danlu.formats.streams import is_remote, open_stream
from danlu.read.find import find_files, whole_pieces
from danlu.read.settings import Source
from danlu.records import Document

_PAGES = "pages"
_TEXTS = ("txt", "md", "jsonl", "gutenberg")
"""Formats of which a file that is binary by its first bytes is a damage; others have their own word for it."""
_BOOKS, _DUMPS = formats_in(Family.BOOKS), formats_in(Family.DUMPS)
_PREVIEW_BYTES = 20_000_000


def read_documents(
    source: Source, base: Path, max_document_bytes: int, damaged: Callable[[Damage], None]
) -> Iterator[Document]:
    """The documents of a source, file by file in order of name; texts of Python first.

    Raises InputError where no file is found, a file is in another encoding, or its format cannot be told.
    """
    yield from read_pieces(whole_pieces(source, base), source, base, max_document_bytes, damaged)


def read_pieces(
    pieces: Iterable[Piece],
    source: Source,
    base: Path,
    max_document_bytes: int,
    damaged: Callable[[Damage], None],
) -> Iterator[Document]:
    """The documents of pieces of a source, in order; errors as `read_documents`."""
    is_transcoded = codecs.lookup(source.encoding).name != "utf-8"
    with ExitStack() as stack:
        # None of them starts a process before it is asked.
        guarded = {kind: stack.enter_context(open_books(kind)) for kind in GUARDED}
        guarded[_PAGES] = stack.enter_context(Extractor(source.extractor))
        for piece in pieces:
            for raw in _read_piece(piece, source, base, max_document_bytes, guarded):
                if isinstance(raw, Damage):
                    damaged(raw)
                    continue
                # A transcoded stream has replaced what it could not decode before it was cut into texts.
                replaced = raw.text.count("\ufffd") if is_transcoded else raw.replaced
                if replaced:
                    detail = f"{replaced} undecodable places became U+FFFD, from byte {raw.start} on"
                    damaged(Damage("replaced_bytes", raw.source, raw.line, detail))
                yield _document(raw, source, damaged)


def preview(source: Source, base: Path, count: int = 3) -> list[Document]:
    """The first documents as they were split, for a user to look at; what is damaged is counted by the real read."""
    return list(islice(read_documents(source, base, _PREVIEW_BYTES, lambda _: None), count))


def fingerprint(source: Source, base: Path) -> list[list[str | int]]:
    """What decides whether the input changed: name, size and time (tag, commit) of each file, versions for Python."""
    marks: list[list[str | int]] = [[file.name, file.size, file.mark] for file in find_files(source, base)]
    for path in source.paths:
        if path.startswith(PYTHON_PREFIX):
            marks.append([path, platform.python_version()])
        if path == python_text.DOCS:
            marks += [[name, version] for name, version in python_text.list_distributions()]
    return marks


def format_of_piece(piece: Piece, source: Source) -> str:
    """The format in which a piece is read. Raises InputError where its name does not say."""
    if piece.revision:
        return "repository"
    if piece.path.startswith(PYTHON_PREFIX):
        return "python"
    if source.format != "auto":
        return source.format
    kind = format_of(piece.path)
    if kind is None:
        raise InputError(
            f"{piece.name}: its name ends in none of {', '.join(FORMATS)} (or those with "
            f'{", ".join(COMPRESSIONS)}); set format = "txt" in its [[corpus.source]] to read it as plain text, or '
            f"narrow the globs"
        )
    return kind


def place_of(piece: Piece, base: Path) -> Path | str:
    """Where a piece is opened: its URL, or its path from the recipe's folder."""
    return piece.path if is_remote(piece.path) else base / piece.path


def _read_piece(
    piece: Piece, source: Source, base: Path, limit: int, guarded: Mapping[str, Extractor]
) -> Iterator[Raw | Damage]:
    kind = format_of_piece(piece, source)
    fields = Fields(source.text_field, source.id_field, source.template, tuple(source.metadata_fields))
    joined = Joined(source.document, source.template, limit)
    place = place_of(piece, base)
    if kind == "python":
        yield from python_text.read_python(piece.path, limit)
    elif kind == "repository":
        yield from read_repository(Path(place), piece, source.encoding, limit)
    elif kind == "parquet":
        yield from read_parquet(place, piece.name, fields, limit, piece.start, piece.end)
    else:
        try:
            # One byte before the piece tells whether a line begins with it.
            start = max(0, piece.start - 1)
            with open_stream(place, source.encoding, start, is_text=kind in _TEXTS) as read:
                if kind == "jsonl":
                    yield from read_jsonl(read, piece.name, fields, limit, piece.start, piece.end)
                elif kind in ("warc", "wet"):
                    yield from read_archive(read, piece.name, guarded[_PAGES], limit)
                elif kind == "html":
                    yield from read_page(read, piece.name, guarded[_PAGES], limit)
                elif kind in _DUMPS:
                    yield from read_dump(read, piece.name, kind, guarded[kind], joined)
                elif kind in _BOOKS:
                    yield from read_book(read, piece.name, guarded[kind], joined)
                elif kind == "md" and source.document == SECTION:
                    yield from read_markdown(read, piece.name, limit)
                elif kind == "code":
                    yield from read_code(read, piece.name, limit)
                else:
                    yield from read_plain(read, piece.name, source.document, limit, piece.start, piece.end)
        except BrokenStreamError as error:
            # A file that is binary is one damage, however many pieces it is cut into.
            if error.reason != "binary" or not piece.start:
                yield Damage(error.reason, piece.name, detail=error.detail)
        except OSError as error:
            raise InputError(f"{place} cannot be read: {error}") from error


def _document(raw: Raw, source: Source, damaged: Callable[[Damage], None]) -> Document:
    text = raw.text
    try:
        data = text.encode()
    except UnicodeEncodeError:
        # Pairs that were escaped one by one are joined by the way over UTF-16; what is left alone is replaced.
        text = _whole(text)
        data = text.encode()
        detail = f"replaced by U+FFFD, from byte {raw.start} on"
        damaged(Damage("lone_surrogates", raw.source, raw.line, detail))
    given = None if raw.id is None else raw.id.encode("utf-8", "replace").decode()
    number = given if given is not None else xxhash.xxh3_128_hexdigest(data)
    return Document(
        number,
        text,
        raw.source,
        source.domain,
        raw.group if raw.group is not None else number,
        raw.start,
        raw.end,
        given is not None,
        {_whole(name): _whole(value) for name, value in raw.metadata.items()},
        "" if source.language == "auto" else source.language,
    )


def _whole(text: str) -> str:
    """A text without lone surrogates."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
