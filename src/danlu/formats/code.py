"""Source code to documents: a file each, from a folder tree or a git repository, with its language by its name.

Decides: a file with a NUL byte near its beginning is binary, as git has it, and a damage; so is one that is not text in
UTF-8 or the declared encoding, since a tree has files of every kind and one of them stops nothing. The languages are
those of code_languages.txt. Costs: reading; of a repository git's, about 100 MB/s.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

from danlu.errors import InputError
from danlu.extract.encoding import decode
from danlu.extract.git import TrackedFile, list_files, list_submodules, read_contents
from danlu.extract.packed import Read
from danlu.formats.raw import Damage, Piece, Raw
from danlu.formats.streams import read_whole

_LANGUAGES = Path(__file__).with_name("code_languages.txt")
_BINARY_WITHIN = 8000


def read_code(read: Read, name: str, limit: int) -> Iterator[Raw | Damage]:
    """One file of a tree; its stream is UTF-8 already where another encoding is declared."""
    span = read_whole(read, limit)
    if span.data is None:
        yield Damage("too_long", name, detail=f"longer than {limit} bytes")
    else:
        yield from _read_file(span.data, name)


def read_repository(path: Path, piece: Piece, encoding: str, limit: int) -> Iterator[Raw | Damage]:
    """The tracked files [start, end) of a commit in git's order. Submodules are counted with the first of them."""
    if piece.start == 0:
        for place in list_submodules(path, piece.revision):
            yield Damage("submodule", f"{piece.name}/{place}", detail="its files are another repository's")
    files = list_files(path, piece.revision)[piece.start : piece.end]
    contents = read_contents(path, (file for file in files if file.size <= limit))
    for file in files:
        name = f"{piece.name}/{_shown(file)}"
        if file.size > limit:
            yield Damage("too_long", name, detail=f"longer than {limit} bytes")
            continue
        data = next(contents)
        if encoding != "utf-8" and not _is_binary(data):
            data = data.decode(encoding, "replace").encode()
        yield from _read_file(data, name)


def language_of(name: str) -> str:
    """The programming language that the name of a file says, "" where it says none."""
    path = PurePosixPath(name)
    if path.suffix in (".gz", ".zst", ".bz2"):
        path = path.with_suffix("")
    return _languages().get(path.name.lower()) or _languages().get(path.suffix.lower(), "")


@cache
def _languages() -> dict[str, str]:
    """Extension or whole name in lower case -> language."""
    lines = _LANGUAGES.read_text(encoding="utf-8").splitlines()
    rows = [line.partition(":") for line in lines if line and not line.startswith("#")]
    return {ending: language for language, _, endings in rows for ending in endings.split()}


def _shown(file: TrackedFile) -> str:
    return os.fsencode(file.path).decode("utf-8", "replace")


def _is_binary(data: bytes) -> bool:
    return b"\0" in data[:_BINARY_WITHIN]


def _read_file(data: bytes, name: str) -> Iterator[Raw | Damage]:
    if _is_binary(data):
        yield Damage("binary", name, detail="a NUL byte is in it, so it is no text")
        return
    try:
        text, replaced = decode(data.removeprefix(b"\xef\xbb\xbf"), name)
    except InputError as error:
        yield Damage("undecodable", name, detail=str(error))
        return
    if text and not text.isspace():
        language = language_of(name)
        metadata = {"code_language": language} if language else {}
        yield Raw(text, name, 0, len(data), group=name, replaced=replaced, metadata=metadata)
