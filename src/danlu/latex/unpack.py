"""The files of a paper as arXiv ships them: a gzipped tar, a tar, a gzipped source or a source.

Decides: sources alone are kept; an archive with a link, a device, a path out of its folder, a sparse file, or more than
the limit in it is refused whole, since no paper has one. Guarantees: memory stays at twice the limit. Costs: inflating.
"""

from __future__ import annotations

import io
import re
import tarfile
import zlib
from pathlib import PurePosixPath

SOURCES = frozenset((".tex", ".ltx", ".latex", ".sty", ".bbl", ".tikz", ".pgf", ".txt", ".def", ".clo", ""))
"""Endings of files that a paper may read as source."""
MOST_FILES = 10_000
_GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 31
_FIRST_BYTES, _MOST_BYTES = 1 << 8, 1 << 20
"""Of a gzip member, what is inflated at a time."""
_TAR_MAGIC = slice(257, 262)
_ZEROS = re.compile(rb"\0+")
_OCTAL = re.compile(rb"[0-7]+")
_FORMATS = {
    b"%PDF": "a PDF",
    b"%!": "PostScript",
    b"PK\x03\x04": "a zip archive",
    b"<": "a page of HTML or XML",
}


def unpack(data: bytes, limit: int) -> dict[str, bytes]:
    """Name -> bytes of each source, in the order of the archive; a single source is main.tex.

    Raises ValueError for what is broken, not LaTeX, longer than `limit` bytes in all, or a trick.
    """
    if data.startswith(_GZIP):
        data = _inflated(data, limit)
    if data[_TAR_MAGIC] == b"ustar" or _is_old_tar(data):
        return _members(data, limit)
    if len(data) > limit:
        raise ValueError(f"longer than {limit} bytes")
    for magic, name in _FORMATS.items():
        if data.startswith(magic):
            raise ValueError(f"{name}, not a LaTeX source")
    if b"\0" in data:
        raise ValueError("a NUL byte is in it, so it is no LaTeX source")
    return {"main.tex": data}


def _inflated(data: bytes, limit: int) -> bytes:
    """All members of a gzip file."""
    parts: list[bytes] = []
    place, room = 0, limit
    while data.startswith(_GZIP, place):
        decoder = zlib.decompressobj(_GZIP_WINDOW)
        step = _FIRST_BYTES
        while not decoder.eof:
            # What lies behind a member is handed back as a copy: a short one is not given the rest of the file.
            piece = data[place : place + step]
            if not piece:
                raise ValueError("the gzip file ends early")
            try:
                part = decoder.decompress(piece, room + 1)
            except zlib.error as error:
                raise ValueError(f"corrupt gzip: {error}") from error
            room -= len(part)
            if room < 0:
                raise ValueError(f"expands to more than {limit} bytes")
            parts.append(part)
            place += len(piece) - len(decoder.unused_data)
            step = min(2 * step, _MOST_BYTES)
        if zeros := _ZEROS.match(data, place):
            place = zeros.end()
    return b"".join(parts)


def _is_old_tar(data: bytes) -> bool:
    """A header of tar before POSIX has no magic, but a checksum in octal."""
    head = data[:512]
    checksum = head[148:156].strip(b" \0")
    if len(head) < 512 or not _OCTAL.fullmatch(checksum):
        return False
    return sum(head[:148]) + sum(head[156:]) + 8 * 32 == int(checksum, 8)


def _members(data: bytes, limit: int) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    room = limit
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for number, member in enumerate(archive, 1):
                if number > MOST_FILES:
                    raise ValueError(f"more than {MOST_FILES} files")
                if member.isdir():
                    continue
                name = _safe_name(member)
                room -= member.size
                if room < 0:
                    raise ValueError(f"expands to more than {limit} bytes")
                if PurePosixPath(name).suffix.lower() in SOURCES:
                    opened = archive.extractfile(member)
                    files[name] = opened.read() if opened else b""
    except tarfile.TarError as error:
        raise ValueError(f"broken tar: {error}") from error
    if not files:
        raise ValueError("the archive holds no LaTeX source")
    return files


def _safe_name(member: tarfile.TarInfo) -> str:
    """The path of a regular file within the archive."""
    path = PurePosixPath(member.name)
    if not member.isreg() or member.issparse():
        raise ValueError(f"{member.name!r} is a link, a device or a sparse file")
    if path.is_absolute() or ".." in path.parts or "\\" in member.name:
        raise ValueError(f"{member.name!r} leads out of the archive")
    return str(path)
