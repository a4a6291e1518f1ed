"""A record of named values to a text, an id and metadata: which fields are read, and how several become one text.

Decides: a template's field that is null is empty; one that is not there, or holds no text or number, is why the record
has no text; so is a record whose fields are all empty. Metadata that is not text is kept as JSON writes it. Costs: a
few look-ups.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any

ALWAYS_KEPT = ("url", "title", "language")
"""Metadata that later steps and the reports know by these names; kept wherever a record has it."""


class NoTextError(Exception):
    """A record without text; the message says why and what to set."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Which fields of a record are what. `template` joins several to the text; without one `text` is the field."""

    text: str = "text"
    id: str = "id"
    template: str = ""
    metadata: tuple[str, ...] = ()

    @property
    def of_text(self) -> list[str]:
        """The fields that a record must have."""
        return template_fields(self.template) if self.template else [self.text]

    @property
    def of_metadata(self) -> tuple[str, ...]:
        """The fields that are kept beside the text where a record has them; never those that are the text itself."""
        names = (*ALWAYS_KEPT, *self.metadata)
        return tuple(dict.fromkeys(name for name in names if self.template or name != self.text))


def template_fields(template: str) -> list[str]:
    """The fields that a template names, each once, in order."""
    return list(dict.fromkeys(name for _, name, *_ in Formatter().parse(template) if name is not None))


def text_of(record: Any, fields: Fields) -> str:
    """The text of a record. Raises NoTextError."""
    if not isinstance(record, dict):
        raise NoTextError(f"the line is a {type(record).__name__}, not an object")
    if not fields.template:
        text = record.get(fields.text)
        if not isinstance(text, str):
            raise NoTextError(_missing(fields.text, record, "text_field"))
        return text
    values = {name: _value(name, record) for name in fields.of_text}
    if not any(values.values()):
        raise NoTextError(f"the fields of the template ({', '.join(values)}) are all empty")
    parts = Formatter().parse(fields.template)
    return "".join(plain + ("" if name is None else values[name]) for plain, name, *_ in parts)


def _value(name: str, record: Mapping[str, Any]) -> str:
    value = record.get(name, ())
    if value is None:
        return ""
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        raise NoTextError(_missing(name, record, "template"))
    return str(value)


def _missing(field: str, record: Mapping[str, Any], key: str) -> str:
    known = ", ".join(list(record)[:10])
    return f"no text in {field!r}; the fields are: {known}; set {key} in its [[corpus.source]]"


def id_of(record: Mapping[str, Any], fields: Fields) -> str | None:
    """The id that a record gives, None where it gives none; a blank text names no document, nor does true."""
    given = record.get(fields.id)
    if isinstance(given, bool) or not isinstance(given, (str, int)):
        return None
    return str(given) if str(given).strip() else None


def metadata_of(record: Mapping[str, Any], fields: Fields) -> dict[str, str]:
    """What is kept of a record beside its text; what is null or not there is left out."""
    found = {name: record[name] for name in fields.of_metadata if record.get(name) is not None}
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        for name, value in found.items()
    }
