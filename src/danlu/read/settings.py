"""The recipe's `[[corpus.source]]`: where text lies and what one document of it is."""

from __future__ import annotations

from pathlib import PurePath
from typing import Literal

from pydantic import Field, field_validator, model_validator

from danlu.config import Section

PYTHON_PREFIX = "python:"
"""Paths with this prefix are texts that every Python carries (python_text.py), not files to look for."""
PYTHON_SOURCES = ("python:stdlib", "python:docs")
FORMATS = {".txt": "txt", ".md": "md", ".jsonl": "jsonl", ".parquet": "parquet"}
"""What the end of a name says; behind it may stand the end of a compression."""
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}

_READ_BY = {
    "document": {"txt", "md"},
    "encoding": {"txt", "md", "jsonl"},
    "text_field": {"jsonl", "parquet"},
    "id_field": {"jsonl", "parquet"},
}
"""Which formats a key has an effect on."""


def format_of(name: str) -> str | None:
    """The format that the name of a file, or a glob of names, says; None where it says none."""
    path = PurePath(name)
    if path.suffix.lower() in COMPRESSIONS:
        path = path.with_suffix("")
    return FORMATS.get(path.suffix.lower())


class Source(Section):
    """One source of text. `paths` are globs relative to the recipe, or a text that every Python carries."""

    domain: str = Field(min_length=1, pattern=r"^\w[\w.\-]*$")
    paths: list[str] = Field(min_length=1)
    format: Literal["auto", "txt", "md", "jsonl", "parquet"] = "auto"
    """By extension where "auto": .txt .md .jsonl .jsonl.gz .jsonl.zst .parquet (any of them may be .gz or .zst)."""
    document: str = "file"
    """In plain text: file | line | blank_line | any other text is a separator."""
    encoding: str = "utf-8"
    text_field: str = "text"
    id_field: str = "id"

    @field_validator("document")
    @classmethod
    def _not_empty(cls, value: str) -> str:
        if not value:
            raise ValueError('an empty separator splits nowhere; use "file", "line", "blank_line" or a text')
        return value

    @field_validator("encoding")
    @classmethod
    def _known_encoding(cls, value: str) -> str:
        try:
            "".encode(value)
        except LookupError:
            raise ValueError(f"there is no encoding {value!r}") from None
        return value

    @model_validator(mode="after")
    def _keys_have_effect(self) -> Source:
        files = [path for path in self.paths if not path.startswith(PYTHON_PREFIX)]
        if not files and self.is_changed("format"):
            raise ValueError(f"format has no effect on {', '.join(self.paths)}; remove it")
        # A glob whose name says no format may find any.
        found = {format_of(path) if self.format == "auto" else self.format for path in files}
        for key, formats in _READ_BY.items():
            if self.is_changed(key) and None not in found and not found & formats:
                what = (
                    f"format {', '.join(map(str, sorted(found, key=str)))}"
                    if found
                    else ", ".join(self.paths)
                )
                raise ValueError(
                    f"{key} has no effect on {what}, only on {', '.join(sorted(formats))}; remove it"
                )
        return self
