"""What the name of a file or a source says: its format, its compression, a text of Python's own.

Costs: nothing.
"""

from __future__ import annotations

from pathlib import PurePath

PYTHON_PREFIX = "python:"
"""Paths with this prefix are texts that every Python carries (python_text.py), not files to look for."""
PYTHON_SOURCES = ("python:stdlib", "python:docs")
FORMATS = {
    ".txt": "txt",
    ".md": "md",
    ".jsonl": "jsonl",
    ".parquet": "parquet",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".warc": "warc",
    ".wet": "wet",
    ".epub": "epub",
    ".pdf": "pdf",
    ".docx": "docx",
    ".tex": "latex",
}
"""What the end of a name says; behind it may stand that of a compression. All else is only read where it is named."""
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}


def format_of(name: str) -> str | None:
    """The format that the name of a file, or a glob of names, says; None where it says none."""
    path = PurePath(name)
    if path.suffix.lower() in COMPRESSIONS:
        path = path.with_suffix("")
    return FORMATS.get(path.suffix.lower())
