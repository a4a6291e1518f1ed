"""JSON lines to documents: a bad line is counted with its place, and the others go on.

Costs: the standard parser, about 100 MB/s; memory one line, whatever its length.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from danlu.extract.encoding import decode_line
from danlu.extract.packed import Read
from danlu.extract.record import Fields, NoTextError, id_of, metadata_of, text_of
from danlu.formats.raw import Damage, Raw
from danlu.formats.streams import Span, judged_lines


def read_jsonl(
    read: Read, name: str, fields: Fields, limit: int, start: int = 0, end: int | None = None
) -> Iterator[Raw | Damage]:
    """One document a line; byte ranges are those of the line. A line longer than `limit` bytes is a damage.

    Lines that begin at bytes [start, end), as `judged_lines` has them; of a part of a file a damage says the byte,
    since the number of the line is not known.
    """
    for number, span in enumerate(judged_lines(read, name, limit, start, end), 1):
        if span.data is not None and (not span.data or span.data.isspace()):
            continue
        line = None if start else number
        try:
            yield _read_line(span, name, line, fields, limit)
        except _BadLineError as error:
            place = f"at byte {span.start}: " if start else ""
            yield Damage(error.reason, name, line, f"{place}{error}")


class _BadLineError(Exception):
    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def _read_line(span: Span, name: str, line_number: int | None, fields: Fields, limit: int) -> Raw:
    if span.data is None:
        raise _BadLineError("too_long", f"longer than {limit} bytes")
    line, replaced = decode_line(span.data.removeprefix(b"\xef\xbb\xbf"))
    try:
        value = json.loads(line)
        text = text_of(value, fields)
    except NoTextError as error:
        raise _BadLineError("missing_text", str(error)) from error
    except (ValueError, RecursionError) as error:
        raise _BadLineError("malformed_json", str(error)) from error
    return Raw(
        text,
        name,
        span.start,
        span.end,
        id=id_of(value, fields),
        replaced=replaced,
        metadata=metadata_of(value, fields),
        line=line_number,
    )
