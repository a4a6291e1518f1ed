"""A file as a stream of decompressed UTF-8 bytes, and a stream cut into spans at a separator.

Guarantees: memory stays within a few times the longest allowed span plus one chunk, whatever the file expands to;
a compressed stream that ends early or fails its checksum raises `BrokenStreamError` after all that came before it.
Costs: about 1 GB/s plain, the speed of zlib or zstd otherwise (both decompressed and verified by Arrow).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from danlu.read.settings import COMPRESSIONS

CHUNK_BYTES = 1 << 20
_PIECE_BYTES = 4096
"""A broken stream loses the piece in which it breaks, so pieces are small: what came before is still given."""
_OVERLAP_BYTES = 256
"""Kept of a span that is too long, so that a separator across two chunks is still seen."""

Read = Callable[[int], bytes]


class BrokenStreamError(Exception):
    """A compressed stream that is truncated or corrupt; `reason` says which."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes [start, end) of a stream; `data` is None where there were more of them than allowed."""

    start: int
    end: int
    data: bytes | None


@contextmanager
def open_stream(path: Path, encoding: str = "utf-8") -> Iterator[Read]:
    """A `read(size)` over the decompressed file, transcoded to UTF-8 unless it is declared as that.

    Byte ranges count in what this returns. Undecodable bytes of other encodings become U+FFFD.
    """
    with path.open("rb") as file:
        codec = COMPRESSIONS.get(path.suffix.lower())
        if codec and path.stat().st_size == 0:
            raise BrokenStreamError("truncated", "the compressed file is empty")
        read = _decompress(file, codec) if codec else file.read
        yield read if codecs.lookup(encoding).name == "utf-8" else _transcode(read, encoding)


def _decompress(file: BinaryIO, codec: str) -> Read:
    stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), codec)
    broken: list[BrokenStreamError] = []

    def read(size: int) -> bytes:
        if broken:
            raise broken[0]
        data = bytearray()
        while len(data) < size:
            try:
                piece = stream.read(_PIECE_BYTES)
            except OSError as error:
                reason = "truncated" if "Truncated" in str(error) else "corrupt"
                broken.append(BrokenStreamError(reason, str(error)))
                if data:
                    break
                raise broken[0] from error
            if not piece:
                break
            data += piece
        return bytes(data)

    return read


def _transcode(read: Read, encoding: str) -> Read:
    decoder = codecs.getincrementaldecoder(encoding)("replace")

    def transcoded(size: int) -> bytes:
        while data := read(size):
            # A chunk may be all of an incomplete character: empty must mean the end and nothing else.
            if text := decoder.decode(data):
                return text.encode("utf-8", "replace")
        return decoder.decode(b"", final=True).encode("utf-8", "replace")

    return transcoded


def read_whole(read: Read, limit: int) -> Span:
    """The whole stream as one span; reading stops at the limit."""
    data = bytearray()
    while len(data) <= limit and (chunk := read(CHUNK_BYTES)):
        data += chunk
    return Span(0, len(data), bytes(data) if len(data) <= limit else None)


def split_stream(read: Read, separator: re.Pattern[bytes], limit: int) -> Iterator[Span]:
    """The spans between matches of a separator, in order, empty ones too.

    A match that touches the end of what was read waits for more, since it may go on there.
    """
    start = offset = 0  # of the open span, and of the buffer, which is less where the span is too long
    buffer = b""
    while True:
        chunk = read(CHUNK_BYTES)
        buffer += chunk
        begin = 0
        for match in separator.finditer(buffer):
            if chunk and match.end() == len(buffer):
                break
            whole = start == offset + begin and match.start() - begin <= limit
            data = buffer[begin : match.start()] if whole else None
            yield Span(start, offset + match.start(), data)
            begin = match.end()
            start = offset + begin
        if not chunk:
            whole = start == offset + begin and len(buffer) - begin <= limit
            yield Span(start, offset + len(buffer), buffer[begin:] if whole else None)
            return
        if len(buffer) - begin > limit + _OVERLAP_BYTES:
            begin = len(buffer) - _OVERLAP_BYTES
        buffer = buffer[begin:]
        offset += begin
