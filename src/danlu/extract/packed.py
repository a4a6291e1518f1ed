"""Compressed bytes to bytes: gzip, bzip2 and zstd, of several members, whole or broken.

Guarantees: memory stays at a few pieces whatever a file expands to; what is truncated, corrupt or a bomb is raised only
after all that came before, but for the piece (gzip, bzip2: 64 KB, zstd: a block of 128 KB) in which it breaks;
checksums are verified. zstd also needs the window that it was packed with, 2 GB after `--long=31`; no memory for it is
an error. Costs: the speed of zlib (250 MB/s of output), bzip2 (12 MB/s) and zstd (400 MB/s).
"""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import zstandard

from danlu.errors import InputError

BOMB_BYTES = 256_000_000
BOMB_RATIO = 500
"""A stretch of BOMB_BYTES that came out of less than BOMB_BYTES / BOMB_RATIO is no text (gzip's limit is 1,032)."""
_PIECE_BYTES = 1 << 16
_GZIP_WINDOW = 31
_MOST_WINDOW_BYTES = 1 << 31
_SKIPPED = 0x184D2A50
"""The first of sixteen marks of zstd frames that hold no text."""

Read = Callable[[int], bytes]


class BrokenStreamError(Exception):
    """A compressed stream that is "truncated", "corrupt" or a "bomb"; `reason` says which."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


def decompress(read: Read, codec: str, name: str) -> Read:
    """A `read(size)` over what a stream expands to; `codec` is gzip, bz2 or zstd.

    Raises BrokenStreamError, and InputError with the `name` where zstd needs more memory than there is.
    """
    pieces = _refuse_bombs(_Counted(read), codec, name)
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


def _refuse_bombs(source: _Counted, codec: str, name: str) -> Iterator[bytes]:
    """The pieces of a stream, as long as enough goes in for what comes out."""
    given = taken = 0
    for piece in _by_blocks(source, name) if codec == "zstd" else _by_members(source, codec):
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


def _by_blocks(source: _Counted, name: str) -> Iterator[bytes]:
    """zstd, a block of at most 128 KB at a time: the package's own reader does not notice a truncated file."""
    exactly = _Exactly(source)
    decompressor = zstandard.ZstdDecompressor(max_window_size=_MOST_WINDOW_BYTES)
    while not exactly.has_ended():
        decoder = decompressor.decompressobj()
        for block in _blocks(exactly.take):
            try:
                piece = decoder.decompress(block)
            except zstandard.ZstdError as error:
                if "Allocation" in str(error):
                    raise InputError(
                        f"{name}: no memory for its zstd window ({error}); compress it again without --long"
                    ) from error
                raise BrokenStreamError("corrupt", str(error)) from error
            if piece:
                yield piece


def _blocks(take: Read) -> Iterator[bytes]:
    """A frame of zstd (RFC 8878, section 3.1) cut behind its header, each block and its checksum."""
    magic = take(4)
    if _SKIPPED <= int.from_bytes(magic, "little") < _SKIPPED + 16:
        left = int.from_bytes(take(4), "little")
        while left:
            left -= len(take(min(left, _PIECE_BYTES)))
        return
    if magic != zstandard.FRAME_HEADER:
        raise BrokenStreamError("corrupt", "what follows is no frame of zstd")
    descriptor = take(1)
    flags = descriptor[0]
    is_single = flags >> 5 & 1
    size_bytes = (is_single, 2, 4, 8)[flags >> 6]
    yield magic + descriptor + take((1 - is_single) + (0, 1, 2, 4)[flags & 3] + size_bytes)
    is_last = False
    while not is_last:
        head = take(3)
        value = int.from_bytes(head, "little")
        is_last, is_run = bool(value & 1), value >> 1 & 3 == 1
        yield head + take(1 if is_run else value >> 3)
    if flags & 4:
        yield take(4)


class _Exactly:
    """A file of which a given number of bytes is taken, or it is truncated."""

    def __init__(self, source: _Counted) -> None:
        self._source = source
        self._data = b""
        self._place = 0

    def has_ended(self) -> bool:
        if self._place == len(self._data):
            self._data, self._place = self._source.read(), 0
        return not self._data

    def take(self, size: int) -> bytes:
        while len(self._data) - self._place < size:
            more = self._source.read()
            if not more:
                raise BrokenStreamError("truncated", "the compressed file ends early")
            self._data, self._place = self._data[self._place :] + more, 0
        self._place += size
        return self._data[self._place - size : self._place]
