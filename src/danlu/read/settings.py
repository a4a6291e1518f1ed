"""The recipe's `[[corpus.source]]`: where text lies and what one document of it is."""

from __future__ import annotations

from string import Formatter
from typing import Literal

from pydantic import Field, field_validator, model_validator

from danlu.config import Section
from danlu.formats.settings import IN_SECTIONS, PYTHON_PREFIX, Family, format_of, formats_in

_RECORDS = formats_in(Family.RECORDS)
_MARKED_UP = formats_in(Family.BOOKS, Family.DUMPS)
_READ_BY: dict[str, frozenset[str]] = {
    "document": formats_in(Family.PLAIN) | IN_SECTIONS,
    "encoding": formats_in(Family.PLAIN, Family.CODE) | {"jsonl"},
    "template": _RECORDS | _MARKED_UP,
    **dict.fromkeys(("text_field", "id_field", "metadata_fields"), _RECORDS),
    "extractor": formats_in(Family.PAGES),
}
"""Which formats a key has an effect on."""


class Source(Section):
    """One source of text.

    `paths` are globs relative to the recipe, URLs (s3://, gs://, https://, any that fsspec opens), or a text that every
    Python carries.
    """

    domain: str = Field(min_length=1, pattern=r"^\w[\w.\-]*$")
    paths: list[str] = Field(min_length=1)
    format: Literal[
        "auto", "txt", "md", "jsonl", "parquet", "warc", "wet", "html", "code", "epub", "pdf", "docx", "latex",
        "gutenberg", "wikipedia", "stackexchange",
    ] = "auto"  # fmt: skip
    """By extension where "auto": .txt .md .jsonl .parquet .html .warc .wet .epub .pdf .docx .tex, each also with .gz,
    .zst or .bz2 behind it.

    "code": each file is a document; a folder that is a git repository is its tracked files at HEAD. "gutenberg": plain
    text of Project Gutenberg, without its licence. "latex": a .tex is read alone, and counts each file that it reads in
    as missing; the .tar.gz of a paper, as arXiv gives it, is read whole.
    "wikipedia": a dump of MediaWiki in XML, an article each. "stackexchange": a dump's Posts.xml, a question with its
    answers each.
    """
    document: str = "file"
    """In plain text: file | line | blank_line | any other text is a separator.

    In Markdown, books, papers and articles: file | section; a section keeps its heading path.
    """
    encoding: str = "utf-8"
    """Pages of the web are read in the encoding that they declare or that fits."""
    text_field: str = "text"
    template: str = ""
    """Several fields as one text, e.g. "{title}\\n\\n{text}"; a field that is null is empty.

    Of a book, paper or article the fields are its text and what it says of itself: title, author, language, ...
    """
    id_field: str = "id"
    """Where a record has none: the hash of its text."""
    metadata_fields: list[str] = Field(default_factory=list)
    """Fields of a record to keep beside the text; url, title and language are always kept."""
    extractor: Literal["resiliparse", "trafilatura"] = "resiliparse"
    """What finds the main text of a page: resiliparse is ten times as fast, trafilatura leaves out more of the rest."""
    language: str = Field(default="auto", pattern=r"^(auto|[a-z]{2,3})$")
    """A code of ISO 639 that holds for all documents of the source; "auto" leaves it to the steps."""

    @field_validator("document")
    @classmethod
    def _not_empty(cls, value: str) -> str:
        if not value:
            raise ValueError('an empty separator splits nowhere; use "file", "line", "blank_line" or a text')
        return value

    @field_validator("template")
    @classmethod
    def _names_fields(cls, value: str) -> str:
        if value:
            try:
                fields = [field for _, *field in Formatter().parse(value) if field[0] is not None]
            except ValueError as error:
                raise ValueError(f"{value!r}: {error}; a brace that is meant is written twice") from None
            if not fields or not all(
                name and not form and not conversion for name, form, conversion in fields
            ):
                raise ValueError(
                    f'{value!r} must name fields in braces and nothing else there, as "{{title}} {{text}}"'
                )
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
        is_marked_up = bool(found) and found <= _MARKED_UP
        if is_marked_up and self.is_changed("document") and self.document not in ("file", "section"):
            raise ValueError(f'document is "file" or "section" there, not {self.document!r}')
        if self.document == "section" and "txt" in found:
            raise ValueError(
                'document = "section" has no effect on plain text; read it as md, or name a separator'
            )
        if self.template and self.is_changed("text_field"):
            raise ValueError("text_field and template contradict each other; remove one")
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
