"""Compressed bytes to bytes: gzip, bzip2 and zstd, of several members, whole or broken.

Guarantees: memory stays at a few pieces whatever a file expands to; what is truncated, corrupt or a bomb is raised only
after all that came before, but for the piece (gzip, bzip2: 64 KB, zstd: 1 MB) in which it breaks; checksums are
verified. Costs: the speed of zlib (250 MB/s of output), bzip2 (12 MB/s) and zstd (400 MB/s).
"""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

BOMB_BYTES = 256_000_000
BOMB_RATIO = 500
"""A stretch of BOMB_BYTES that came out of less than BOMB_BYTES / BOMB_RATIO is no text (gzip's limit is 1,032)."""
_PIECE_BYTES = 1 << 16
_GZIP_WINDOW = 31

Read = Callable[[int], bytes]


class BrokenStreamError(Exception):
    """A compressed stream that is "truncated", "corrupt" or a "bomb"; `reason` says which."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


def decompress(read: Read, codec: str) -> Read:
    """A `read(size)` over what a stream expands to; `codec` is gzip, bz2 or zstd."""
    pieces = _refuse_bombs(_Counted(read), codec)
    broken: list[BrokenStreamError] = []
    rest = b""

    def expanded(size: int) -> bytes:
        nonlocal rest
        parts, have = [rest], len(rest)
        while have < size and not broken:
            try:
                piece = next(pieces, b"")
            except BrokenStreamError as error:
                broken.append(error)
                break
            if not piece:
                break
            parts.append(piece)
            have += len(piece)
        if broken and not have:
            raise broken[0]
        data = b"".join(parts)
        rest = data[size:]
        return data[:size]

    return expanded


class _Counted:
    """A file to read from that counts what was read."""

    closed = False

    def __init__(self, read: Read) -> None:
        self._read = read
        self.taken = 0

    def read(self, size: int = _PIECE_BYTES) -> bytes:
        data = self._read(size)
        self.taken += len(data)
        return data

    def close(self) -> None:
        """The file is closed by who opened it."""


def _refuse_bombs(source: _Counted, codec: str) -> Iterator[bytes]:
    """The pieces of a stream, as long as enough goes in for what comes out."""
    given = taken = 0
    for piece in _by_arrow(source, codec) if codec == "zstd" else _by_members(source, codec):
        given += len(piece)
        if given >= BOMB_BYTES:
            if (source.taken - taken) * BOMB_RATIO < given:
                raise BrokenStreamError(
                    "bomb", f"{given} bytes came out of {source.taken - taken}; the rest is not read"
                )
            given, taken = 0, source.taken
        yield piece
    if not source.taken:
        raise BrokenStreamError("truncated", "the compressed file is empty")


def _by_members(source: _Counted, codec: str) -> Iterator[bytes]:
    """gzip and bzip2: members one after the other; zeros between them are padding."""
    data = source.read()
    while data:
        decoder: Any = zlib.decompressobj(_GZIP_WINDOW) if codec == "gzip" else bz2.BZ2Decompressor()
        has_ended = False
        while not decoder.eof:
            try:
                piece = decoder.decompress(data, _PIECE_BYTES)
            except (zlib.error, OSError) as error:
                raise BrokenStreamError("corrupt", str(error)) from error
            if piece:
                yield piece
            elif has_ended and not decoder.eof:
                raise BrokenStreamError("truncated", "the compressed file ends early")
            data = decoder.unconsumed_tail if codec == "gzip" else b""
            if not data and not decoder.eof and (codec == "gzip" or decoder.needs_input):
                data = source.read()
                has_ended = not data
        data = decoder.unused_data.lstrip(b"\0")
        while not data and (more := source.read()):
            data = more.lstrip(b"\0")


def _by_arrow(source: _Counted, codec: str) -> Iterator[bytes]:
    """zstd, whose other reader does not notice a truncated file."""
    stream = pa.CompressedInputStream(pa.PythonFile(source, mode="r"), codec)
    while True:
        try:
            # A piece that is asked for is lost with what breaks in it.
            piece = stream.read(1 << 12)
        except OSError as error:
            reason = "truncated" if "Truncated" in str(error) else "corrupt"
            raise BrokenStreamError(reason, str(error)) from error
        if not piece:
            return
        yield piece
