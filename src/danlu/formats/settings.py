"""What the name of a file or a source says: its format, its compression, a text of Python's own.

Decides: which formats there are, and of which family, in one table from which all other lists of formats follow. Costs:
nothing.
"""

from __future__ import annotations

from enum import Enum, auto
from pathlib import PurePath
from typing import NamedTuple

PYTHON_PREFIX = "python:"
"""Paths with this prefix are texts that every Python carries (python_text.py), not files to look for."""
PYTHON_SOURCES = ("python:stdlib", "python:docs")


class Family(Enum):
    """Formats that are read in one way."""

    PLAIN = auto()
    """Text as it is, which a source cuts into documents."""
    RECORDS = auto()
    """Rows of named fields, each a document."""
    PAGES = auto()
    """Web pages, of which an extractor finds the main text."""
    EXTRACTS = auto()
    """Texts that somebody else found in web pages."""
    CODE = auto()
    BOOKS = auto()
    """A file is a document, or its sections are; read in a guarded process."""
    DUMPS = auto()
    """A file holds many articles, each of them read in a guarded process."""


class Format(NamedTuple):
    """What is known of a format before a file of it is opened."""

    family: Family
    endings: tuple[str, ...] = ()
    """Of names; one without any is only read where a source names it."""
    is_whole: bool = False
    """Whether all that a file of it gives stays on one side of the split."""
    is_marked_up: bool = False
    """Whether most of its bytes are no text."""
    has_sections: bool = False
    """Whether a section of it may be a document."""
    module: str = ""
    """Whose `extract` reads it in a guarded process."""
    package: str = ""
    """What that module needs, beside this one."""


KNOWN = {
    "txt": Format(Family.PLAIN, (".txt",)),
    "md": Format(Family.PLAIN, (".md",), has_sections=True),
    "jsonl": Format(Family.RECORDS, (".jsonl",)),
    "parquet": Format(Family.RECORDS, (".parquet",)),
    "html": Format(Family.PAGES, (".html", ".htm", ".xhtml"), is_whole=True, is_marked_up=True),
    "warc": Format(Family.PAGES, (".warc",), is_marked_up=True),
    "wet": Format(Family.EXTRACTS, (".wet",)),
    "code": Format(Family.CODE),
    "epub": Format(Family.BOOKS, (".epub",), True, True, True, "danlu.publications.epub"),
    "pdf": Format(Family.BOOKS, (".pdf",), True, True, True, "danlu.publications.pdf", "pypdfium2"),
    "docx": Format(Family.BOOKS, (".docx",), True, True, True, "danlu.publications.docx"),
    "latex": Format(Family.BOOKS, (".tex",), True, has_sections=True, module="danlu.latex.project"),
    "gutenberg": Format(Family.BOOKS, (), True, has_sections=True, module="danlu.publications.gutenberg"),
    "wikipedia": Format(
        Family.DUMPS, has_sections=True, module="danlu.dumps.wikitext", package="mwparserfromhell"
    ),
    "stackexchange": Format(Family.DUMPS, module="danlu.dumps.threads"),
}
"""Every format that a source may name."""


def formats_in(*families: Family) -> frozenset[str]:
    """The formats of some families."""
    return frozenset(name for name, kind in KNOWN.items() if kind.family in families)


WHOLE = frozenset(name for name, kind in KNOWN.items() if kind.is_whole)
MARKED_UP = frozenset(name for name, kind in KNOWN.items() if kind.is_marked_up)
IN_SECTIONS = frozenset(name for name, kind in KNOWN.items() if kind.has_sections)
GUARDED = frozenset(name for name, kind in KNOWN.items() if kind.module)
FORMATS = {ending: name for name, kind in KNOWN.items() for ending in kind.endings}
"""What the end of a name says; behind it may stand that of a compression. All else is only read where it is named."""
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}


def format_of(name: str) -> str | None:
    """The format that the name of a file, or a glob of names, says; None where it says none."""
    path = PurePath(name)
    if path.suffix.lower() in COMPRESSIONS:
        path = path.with_suffix("")
    return FORMATS.get(path.suffix.lower())
