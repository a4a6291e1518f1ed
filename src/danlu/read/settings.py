"""The recipe's `[[corpus.source]]`: where text lies and what one document of it is."""

from __future__ import annotations

from pydantic import Field, field_validator

from danlu.config import Section, nearest

FORMATS = ("auto", "txt", "md", "jsonl", "parquet")
PYTHON_SOURCES = ("python:stdlib", "python:docs")


class Source(Section):
    """One source of text. `paths` are globs relative to the recipe, or a text that every Python carries."""

    domain: str = Field(min_length=1, pattern=r"^\w[\w.\-]*$")
    paths: list[str] = Field(min_length=1)
    format: str = "auto"
    """By extension where "auto": .txt .md .jsonl .jsonl.gz .jsonl.zst .parquet (any of them may be .gz or .zst)."""
    document: str = "file"
    """In plain text: file | line | blank_line | any other text is a separator."""
    encoding: str = "utf-8"
    text_field: str = "text"
    id_field: str = "id"

    @field_validator("format")
    @classmethod
    def _known_format(cls, value: str) -> str:
        if value not in FORMATS:
            raise ValueError(f"format {value!r} is not supported yet; {nearest(value, FORMATS)}")
        return value

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
