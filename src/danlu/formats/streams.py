"""A file, here or behind a URL, as a stream of decompressed UTF-8 bytes, and a stream cut into spans at a separator.

Guarantees: memory stays within a few times the longest allowed span plus one chunk, whatever the file expands to;
a compressed stream that ends early, fails its checksum or is a bomb raises `BrokenStreamError` after all that came
before it. What fails on the way from another machine stops the run: it is no damage of the text.
Costs: about 1 GB/s plain, the speed of the decompressor otherwise.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from danlu.errors import DanluError, InputError, MissingError
from danlu.extract.encoding import HEAD_BYTES, JUDGED_BYTES, Decoder, sign_of_binary
from danlu.extract.packed import BrokenStreamError, Read, decompress
from danlu.formats.settings import COMPRESSIONS

CHUNK_BYTES = 1 << 20
_OVERLAP_BYTES = 256
"""Kept of a span that is too long, so that a separator across two chunks is still seen."""

_PACKAGES = {
    "s3": "s3fs",
    "gs": "gcsfs",
    "hf": "huggingface_hub",
    "http": "aiohttp requests",
    "https": "aiohttp requests",
    "abfs": "adlfs",
}
"""What pip installs for a kind of URL."""


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes [start, end) of a stream; `data` is None where there were more of them than allowed."""

    start: int
    end: int
    data: bytes | None


def is_remote(path: str) -> bool:
    """Whether a path is a URL, which fsspec opens."""
    return "://" in path


def open_filesystem(url: str) -> tuple[Any, str]:
    """fsspec's file system for a URL, and the path in it. Raises MissingError where its package is not installed."""
    import fsspec

    try:
        filesystem, path = fsspec.core.url_to_fs(url)
    except ImportError as error:
        package = _PACKAGES.get(url.partition("://")[0], "")
        advice = f"pip install {package}" if package else str(error)
        raise MissingError(f"{url} needs a package that is not installed: {advice}") from error
    except ValueError as error:
        raise InputError(f"{url} cannot be opened: {error}; correct corpus.source.paths") from error
    return filesystem, path


@contextmanager
def open_file(path: Path | str) -> Iterator[Any]:
    """A file opened for reading bytes, with `read`, `seek` and `tell`; a URL through fsspec.

    Raises InputError where it is not there or may not be read, or where another machine does not answer.
    """
    try:
        if isinstance(path, str) and is_remote(path):
            filesystem, place = open_filesystem(path)
            file: Any = _RemoteFile(filesystem.open(place, "rb"), path)
        else:
            file = Path(path).open("rb")  # noqa: SIM115 - closed below
    except (FileNotFoundError, PermissionError) as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {error}") from error
    try:
        yield file
    finally:
        file.close()


class _RemoteFile:
    """A file of fsspec's whose failing reads are errors that name it; all else is the file's own."""

    def __init__(self, file: Any, url: str) -> None:
        self._file, self._url = file, url

    def read(self, size: int = -1) -> bytes:
        with self._named_errors():
            data: bytes = self._file.read(size)
        return data

    def seek(self, place: int, whence: int = 0) -> int:
        with self._named_errors():
            reached: int = self._file.seek(place, whence)
        return reached

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except DanluError:
            raise
        except Exception as error:  # each file system has errors of its own
            raise InputError(
                f"{self._url} broke off ({error!r}); what was done stays: type the same command again"
            ) from error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@contextmanager
def open_stream(
    path: Path | str, encoding: str = "utf-8", start: int = 0, is_text: bool = False
) -> Iterator[Read]:
    """A `read(size)` over the decompressed file, transcoded to UTF-8 unless it is declared as that.

    Byte ranges count in what this returns. Undecodable bytes of other encodings become U+FFFD. `start`: where in a
    file that is not compressed reading begins. `is_text`: raises BrokenStreamError, "binary", for what is no text by
    the first bytes of the file, wherever reading begins.
    """
    codec = COMPRESSIONS.get(Path(path).suffix.lower())
    with open_file(path) as file:
        read = decompress(file.read, codec, str(path)) if codec else file.read
        if is_text:
            head = read(HEAD_BYTES)
            if sign := sign_of_binary(head, encoding):
                raise BrokenStreamError("binary", f"{sign}, so it is no text")
            read = _put_back(head, read)
        if start:
            file.seek(start)
            read = file.read
        yield read if codecs.lookup(encoding).name == "utf-8" else _transcode(read, encoding)


def _put_back(head: bytes, read: Read) -> Read:
    """A `read(size)` that gives first what was read already."""

    def again(size: int) -> bytes:
        nonlocal head
        if not head:
            return read(size)
        data, head = head[:size], head[size:]
        return data

    return again


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


def split_stream(read: Read, separator: re.Pattern[bytes], limit: int, first: int = 0) -> Iterator[Span]:
    """The spans between matches of a separator, in order, empty ones too; `first` is the place of the first byte.

    A match that touches the end of what was read waits for more, since it may go on there. Of a stream that breaks, all
    spans are given that a match has ended.
    """
    start = offset = first  # of the open span, and of the buffer, which is less where the span is too long
    buffer = b""
    broken: BrokenStreamError | None = None
    while True:
        try:
            chunk = read(CHUNK_BYTES)
        except BrokenStreamError as error:
            chunk, broken = b"", error
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
        if broken:
            raise broken
        if not chunk:
            whole = start == offset + begin and len(buffer) - begin <= limit
            yield Span(start, offset + len(buffer), buffer[begin:] if whole else None)
            return
        if len(buffer) - begin > limit + _OVERLAP_BYTES:
            begin = len(buffer) - _OVERLAP_BYTES
        buffer = buffer[begin:]
        offset += begin


_LINE_END = re.compile(rb"\n")


def split_lines(read: Read, limit: int, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """The lines that begin at bytes [start, end) of a stream whose first byte to be read is max(0, start - 1).

    One byte before tells whether a line begins at `start`; a line that begins before belongs to who reads that.
    """
    first = max(0, start - 1)
    for span in split_stream(read, _LINE_END, limit, first):
        if span.start < start:
            continue
        if end is not None and span.start >= end:
            return
        yield span


def judged_lines(read: Read, name: str, limit: int, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """The lines of `split_lines`; with the first part of a file, its encoding is judged as `Decoder` does.

    What is judged are the lines that begin in the first JUDGED_BYTES of the file, even those behind `end`, so that the
    parts into which a file is cut change nothing. Raises InputError where they are in another encoding.
    """
    if start:
        yield from split_lines(read, limit, start, end)
        return
    decoder = Decoder(name)
    for span in split_lines(read, limit, 0, None if end is None else max(end, JUDGED_BYTES)):
        if span.data is not None and span.start < JUDGED_BYTES:
            decoder.decode(span.data, span.start)
        if end is None or span.start < end:
            yield span
    decoder.finish()
