"""Plain text to documents: a file each, a line each, a paragraph each, or what stands between separators.

Decides: a document that is only white space is none; a byte order mark is not text; one longer than the limit is a
damage, not an error. Costs: reading and one scan for the separator; memory as in streams.py.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from danlu.extract.encoding import Decoder, decode_line
from danlu.extract.packed import Read
from danlu.formats.raw import Damage, Raw
from danlu.formats.streams import Span, judged_lines, read_whole, split_stream

_BLANK_LINES = rb"\n(?:[ \t\r]*\n)+"


def read_plain(
    read: Read, name: str, document: str, limit: int, start: int = 0, end: int | None = None
) -> Iterator[Raw | Damage]:
    """The documents of one plain text; `document` is file, line, blank_line or a separator.

    A file is the group of its document; documents that share a file are split by their own hash. `start` and `end`
    are for lines alone, as `judged_lines` has them; all else is judged by the whole file.
    """
    decoder = Decoder(name)
    if document == "file":
        spans: Iterator[Span] = iter([read_whole(read, limit)])
    elif document == "line":
        spans = judged_lines(read, name, limit, start, end)
    else:
        spans = split_stream(read, _separator(document), limit)
    for span in spans:
        if span.data is None:
            yield Damage("too_long", name, detail=f"starts at byte {span.start}, longer than {limit} bytes")
        elif span.data and not span.data.isspace():
            yield _raw(
                None if document == "line" else decoder,
                span.data,
                span,
                name,
                name if document == "file" else None,
            )
    decoder.finish()


def _separator(document: str) -> re.Pattern[bytes]:
    """What ends a document; a line feed in a separator also stands for a carriage return and line feed."""
    lines = [re.escape(line) for line in document.encode().split(b"\n")]
    # A pattern that begins with a plain byte is found at the speed of memchr: `_raw` removes the return before it.
    given = rb"\r?\n".join(lines).removeprefix(rb"\r?")
    return re.compile(_BLANK_LINES if document == "blank_line" else given)


def _raw(decoder: Decoder | None, data: bytes, span: Span, name: str, group: str | None) -> Raw:
    start, end = span.start, span.end
    if start == 0 and data.startswith(codecs.BOM_UTF8):
        data, start = data[3:], 3
    if group is None and data.endswith(b"\r"):
        data, end = data[:-1], end - 1
    text, replaced = decoder.decode(data, start) if decoder else decode_line(data)
    return Raw(text, name, start, end, group, replaced=replaced)
