"""Books, papers and articles to documents: EPUB, PDF, DOCX, LaTeX, Project Gutenberg; what dumps hold (dumps.py).

Decides: a file may be ten times as large as the longest document, since most of a book or a scan is no text. All are
extracted in a guarded process (extract/guard.py): one that crashes or hangs is one damage. Costs: the parsers, 0.1 to
20 MB/s of file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from danlu.extract.guard import ExtractionError, Extractor
from danlu.extract.packed import Read
from danlu.extract.section import Extracted, Section
from danlu.formats.raw import Damage, Raw
from danlu.formats.sections import Joined, Place, raws_of, titled
from danlu.formats.settings import KNOWN
from danlu.formats.streams import read_whole

_FILE_TO_TEXT = 10
_MOST_SOURCES_BYTES = 200_000_000
"""What the archive of a paper may hold."""


def load(kind: str) -> None:
    """Imports what a format needs. Raises ImportError."""
    for name in filter(None, (KNOWN[kind].module, KNOWN[kind].package)):
        import_module(name)


def answer(data: bytes, charset: str, kind: str) -> dict[str, Any]:  # noqa: ARG001  (only pages have one)
    """What the guarded process answers: a book as plain values."""
    module = import_module(KNOWN[kind].module)
    if kind == "latex":
        found = module.extract(import_module("danlu.latex.unpack").unpack(data, _MOST_SOURCES_BYTES))
    else:
        found = module.extract(data)
    return {
        "sections": [[list(section.headings), section.text] for section in found.sections],
        "metadata": dict(found.metadata),
        "damages": list(found.damages),
        "replaced": found.replaced,
    }


def open_books(kind: str) -> Extractor:
    """The guarded process for a format; to be closed."""
    return Extractor(kind, __name__)


def read_book(read: Read, name: str, extractor: Extractor, joined: Joined) -> Iterator[Raw | Damage]:
    """The documents of one file."""
    most = joined.limit * _FILE_TO_TEXT
    span = read_whole(read, most)
    if span.data is None:
        yield Damage("too_long", name, detail=f"longer than {most} bytes")
        return
    yield from ask_book(span.data, Place(name, 0, span.end, name), {}, extractor, joined)


def ask_book(
    data: bytes, place: Place, metadata: Mapping[str, str], extractor: Extractor, joined: Joined
) -> Iterator[Raw | Damage]:
    """The documents of one book or article; `metadata` is what is known of it already, and counts first."""
    try:
        value = extractor.ask(data)
    except ExtractionError as error:
        yield Damage(
            "extraction_failed", place.name, detail=f"{place.id}: {error}" if place.id else str(error)
        )
        return
    sections = tuple(Section(tuple(headings), text) for headings, text in value["sections"])
    damages = tuple((reason, detail) for reason, detail in value["damages"])
    found = Extracted(sections, {**value["metadata"], **metadata}, damages, value["replaced"])
    yield from raws_of(titled(found, joined), place, joined)
