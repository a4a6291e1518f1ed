"""JSON lines to documents: a bad line is counted with its place, and the others go on.

Costs: the standard parser, about 100 MB/s; memory one line, whatever its length.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from danlu.read.encoding import Decoder
from danlu.read.raw import Damage, Raw
from danlu.read.streams import Read, split_stream

_LINE_END = re.compile(rb"\n")


def read_jsonl(read: Read, name: str, text_field: str, id_field: str, limit: int) -> Iterator[Raw | Damage]:
    """One document a line; byte ranges are those of the line. A line longer than `limit` bytes is a damage."""
    decoder = Decoder(name)
    for number, span in enumerate(split_stream(read, _LINE_END, limit), 1):
        if span.data is None:
            yield Damage("too_long", name, number, f"longer than {limit} bytes")
        elif span.data and not span.data.isspace():
            text, replaced = decoder.decode(span.data.removeprefix(b"\xef\xbb\xbf"), span.start)
            try:
                value = json.loads(text)
            except (ValueError, RecursionError) as error:
                yield Damage("malformed_json", name, number, str(error))
                continue
            found = _fields(value, text_field, id_field)
            if isinstance(found, str):
                yield Damage("missing_text", name, number, found)
            else:
                yield Raw(found[0], name, span.start, span.end, id=found[1], replaced=replaced)
    decoder.finish()


def _fields(value: Any, text_field: str, id_field: str) -> tuple[str, str | None] | str:
    """(text, id) of a record, or why it has none."""
    if not isinstance(value, dict):
        return f"the line is a {type(value).__name__}, not an object"
    text = value.get(text_field)
    if not isinstance(text, str):
        known = ", ".join(list(value)[:10])
        return f"no text in {text_field!r}; the fields are: {known}; set text_field in its [[corpus.source]]"
    given = value.get(id_field)
    return text, str(given) if isinstance(given, (str, int)) else None
