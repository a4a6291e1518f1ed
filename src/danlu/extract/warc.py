"""Records of a web archive (WARC 1.0 and 1.1, ISO 28500) out of a stream of decompressed bytes.

Decides: a record is what its Content-Length says and what two line ends close; where that does not hold, it is broken
and reading goes on where next a record may begin. Guarantees: every byte belongs to a record, to what
is broken, or to white space; memory stays within the longest allowed record and a chunk. fastwarc parses the headers
and undoes HTTP's own encodings. Costs: framing about 500 MB/s.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from danlu.errors import MissingError

_CHUNK_BYTES = 1 << 20
_HEAD_BYTES = 1 << 16
_MARK = re.compile(rb"WARC/[01]\.\d\r\n")
_MARK_BYTES = 10
_TEXT = re.compile(rb"\S")
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,15})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """Bytes [start, end) of a stream: a record, or why they are none ("malformed_record", "too_long", "truncated")."""

    start: int
    end: int
    data: bytes = b""
    broken: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """What a record holds: a page as it was sent (`kind` "response", "resource"), or text ("conversion")."""

    kind: str
    id: str | None
    url: str
    media_type: str
    charset: str
    language: str
    status: int | None
    content: bytes


class MalformedError(Exception):
    """A record that cannot be parsed or decoded; the message says why."""


class _Window:
    """The part of a stream that is in memory; `at` is the index of the first byte that nothing has taken yet."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._begins = 0
        self._has_ended = False
        self.data, self.at = b"", 0

    @property
    def place(self) -> int:
        """The place in the stream of the first byte that nothing has taken."""
        return self._begins + self.at

    def fill(self, count: int) -> bool:
        """Whether `count` more bytes are there; reads them into memory, and lets go of what was taken."""
        if len(self.data) - self.at < count and not self._has_ended:
            self._begins += self.at
            parts, have = [self.data[self.at :]], len(self.data) - self.at
            while have < count and (chunk := self._read(_CHUNK_BYTES)):
                parts.append(chunk)
                have += len(chunk)
            self._has_ended = have < count
            self.data, self.at = b"".join(parts), 0
        return len(self.data) - self.at >= count

    def skip(self, count: int) -> bool:
        """Takes `count` bytes without keeping them; False where the stream ends before."""
        while count and self.fill(1):
            step = min(count, len(self.data) - self.at)
            self.at += step
            count -= step
        return not count

    def skip_space(self) -> bool:
        """Takes white space; False where nothing is left after it."""
        while self.fill(1):
            found = _TEXT.search(self.data, self.at)
            self.at = found.start() if found else len(self.data)
            if found:
                return True
        return False

    def skip_to_next(self) -> None:
        """Takes all before the next place, not this one, where a record may begin."""
        self.skip(1)
        while self.fill(_MARK_BYTES):
            found = _MARK.search(self.data, self.at)
            self.at = found.start() if found else len(self.data) - _MARK_BYTES + 1
            if found:
                return
        self.at = len(self.data)


def read_blocks(read: Callable[[int], bytes], limit: int) -> Iterator[Block]:
    """The records of a stream in order, and what is none; the content of a record is at most `limit` bytes."""
    window = _Window(read)
    while window.skip_space():
        start = window.place
        head = _head(window)
        length = _LENGTH.search(head)
        if not length:
            window.skip_to_next()
            yield Block(start, window.place, broken="malformed_record")
            continue
        size = len(head) + int(length[1])
        if int(length[1]) > limit:
            is_whole = window.skip(size)
            yield Block(start, window.place, broken="too_long" if is_whole else "truncated")
        elif window.fill(size) and _is_closed(window, size):
            data = window.data[window.at : window.at + size]
            window.at += size
            yield Block(start, window.place, data)
        else:
            is_whole = window.fill(size)
            # The length may be wrong: what follows may be in it.
            window.at += len(head)
            window.skip_to_next()
            yield Block(start, window.place, broken="malformed_record" if is_whole else "truncated")


def _head(window: _Window) -> bytes:
    """The header lines at the place of a window, b"" where there is no record."""
    window.fill(_HEAD_BYTES)
    if not _MARK.match(window.data, window.at):
        return b""
    end = window.data.find(b"\r\n\r\n", window.at, window.at + _HEAD_BYTES)
    return window.data[window.at : end + 4] if end >= 0 else b""


def _is_closed(window: _Window, size: int) -> bool:
    """Whether two line ends follow a record; the last one of a file may lack them."""
    window.fill(size + 4)
    after = window.data[window.at + size : window.at + size + 4]
    return after == b"\r\n\r\n" or (len(after) < 4 and not after.strip())


def parse_record(data: bytes, limit: int) -> Record:
    """What a record says and holds, HTTP's encodings undone; `content` is cut off behind `limit` + 1 bytes.

    Raises MalformedError; MissingError where fastwarc is not installed.
    """
    try:
        from fastwarc.warc import ArchiveIterator
    except ImportError:
        raise MissingError(
            'WARC needs fastwarc, which is not installed; pip install "danlu[corpus]"'
        ) from None
    try:
        record: Any = next(iter(ArchiveIterator(io.BytesIO(data), parse_http=False, stream_detect=False)))
        record.parse_http(auto_decode="all")
        content: bytes = record.reader.read(limit + 1)
    except (OSError, ValueError, StopIteration) as error:
        raise MalformedError(str(error) or "fastwarc finds no record in it") from error
    headers, http = record.headers, record.http_headers
    named = headers.get("Content-Type") if http is None else record.http_content_type
    media_type = named or headers.get("WARC-Identified-Payload-Type") or ""
    return Record(
        str(record.record_type),
        (headers.get("WARC-Record-ID") or "").strip("<>") or None,
        (headers.get("WARC-Target-URI") or "").strip("<>"),
        media_type.partition(";")[0].strip().lower(),
        (record.http_charset or "") if http is not None else "",
        headers.get("WARC-Identified-Content-Language") or "",
        None if http is None else http.status_code,
        content,
    )
