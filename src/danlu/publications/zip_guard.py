"""The members of a ZIP file from a stranger: read one by one, within limits, never written anywhere.

Guarantees: a bomb (one member, or all that are read together, expanding beyond their limits), an encrypted member, one
that is compressed otherwise than by deflate, a name that leads outside, or a damaged file is a ValueError before its
bytes are used; a ZIP inside is only bytes.
Costs: zlib's speed; memory of one member at a time, and a kilobyte for each name.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

MOST_MEMBERS = 50_000
MEMBER_BYTES = 100_000_000
ALL_BYTES = 500_000_000
"""Of all members that are read, together: the text of the longest books is under 20 MB."""
BOMB_BYTES, BOMB_RATIO = 10_000_000, 200
"""A longer member that came out of less than BOMB_BYTES / BOMB_RATIO is no text (deflate's own limit is 1,032)."""

_ENCRYPTED = 1
_BOUNDED = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
"""How a member may be compressed: of other ways the package expands a whole piece, however little was asked for."""
_OLE = bytes.fromhex("d0cf11e0a1b11ae1")


class Members:
    """The members of one ZIP file, by name."""

    def __init__(self, data: bytes) -> None:
        """Raises ValueError where the directory of the file cannot be read or trusted."""
        if data.startswith(_OLE):
            raise ValueError("is no ZIP but an OLE file: encrypted with a password, or Word 97's format")
        _refuse_count(data)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
            raise ValueError(f"is no whole ZIP file: {error}") from error
        self._left = ALL_BYTES
        self._members = {member.filename: member for member in self._zip.infolist()}
        for name in self._members:
            _refuse_name(name)

    def __contains__(self, name: str) -> bool:
        """Whether there is such a member."""
        return name in self._members

    def read(self, name: str) -> bytes:
        """The bytes of a member. Raises ValueError where it is missing, damaged, encrypted or too large."""
        member = self._members.get(name)
        if member is None:
            raise ValueError(f"has no {name}")
        if member.flag_bits & _ENCRYPTED:
            raise ValueError(f"{name} is encrypted")
        if member.compress_type not in _BOUNDED:
            raise ValueError(f"{name} is compressed by method {member.compress_type}, not by deflate (8)")
        most = min(MEMBER_BYTES, max(0, self._left))
        try:
            with self._zip.open(member) as opened:
                # What the directory says of sizes is the sender's word: what comes out is counted.
                data = opened.read(most + 1)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            OSError,
            RuntimeError,
            ValueError,
            struct.error,
        ) as error:
            raise ValueError(f"{name} cannot be unpacked: {error}") from error
        # What was expanded in vain counts too.
        self._left -= len(data)
        if len(data) > most:
            raise ValueError(f"{name} expands to more than {most} bytes")
        if len(data) > BOMB_BYTES and len(data) > BOMB_RATIO * max(1, member.compress_size):
            raise ValueError(f"{name} is a bomb: {len(data)} bytes out of {member.compress_size}")
        return data


def _refuse_count(data: bytes) -> None:
    """Members are counted by the marks of their directory entries, before the package makes an object of each."""
    if data.count(b"PK\x01\x02") > MOST_MEMBERS:
        raise ValueError(f"has more than {MOST_MEMBERS} members")


def _refuse_name(name: str) -> None:
    parts = name.replace("\\", "/").split("/")
    if ".." in parts or parts[0] == "" or parts[0].endswith(":"):
        raise ValueError(f"names a member outside of itself: {name[:200]!r}")
