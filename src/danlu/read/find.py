"""Which files a source names: globs to a sorted list, each file once.

Decides: globs are relative to the recipe's folder, or absolute, or URLs of any file system that fsspec opens; `**`
crosses folders; names that begin with a dot only match where the glob spells the dot; a file reached twice is read
once; a name without wildcards must exist. With format = "code" a folder that is a git repository is its tracked files.
A file behind an address that does not say its size counts as 64 MB when shards are planned.
Costs: one stat a file; one listing a remote glob; one `git ls-tree` a repository.
"""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from danlu.errors import DanluError, InputError
from danlu.extract.git import head_of, is_repository, list_files
from danlu.formats.raw import Piece
from danlu.formats.settings import PYTHON_PREFIX
from danlu.formats.streams import is_remote, open_filesystem
from danlu.read.settings import Source

_UNKNOWN_BYTES = 64_000_000
_MARKS = ("ETag", "etag", "LastModified", "Last-Modified", "mtime", "updated", "modified", "created")
"""What file systems call the thing that changes with a file; the first that there is counts."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a source. `path`, `name` and `can_cut` are as in `Piece`; `mark` changes when the content does."""

    path: str
    name: str
    size: int
    mark: str | int
    is_repository: bool = False
    can_cut: bool = True


def whole_pieces(source: Source, base: Path) -> list[Piece]:
    """A piece for each text of Python, then one for each file of `find_files`."""
    pieces = [Piece(path, path, 0, None, 0) for path in source.paths if path.startswith(PYTHON_PREFIX)]
    for file in find_files(source, base):
        revision = str(file.mark) if file.is_repository else ""
        pieces.append(Piece(file.path, file.name, 0, None, file.size, revision, file.can_cut))
    return pieces


def find_files(source: Source, base: Path) -> list[SourceFile]:
    """The files that the globs of a source name, sorted by name.

    Raises InputError where nothing is found, or a name without wildcards does not exist; MissingError where the
    package for a kind of URL is not installed.
    """
    patterns = [pattern for pattern in source.paths if not pattern.startswith(PYTHON_PREFIX)]
    is_code = source.format == "code"
    local = [pattern for pattern in patterns if not is_remote(pattern)]
    found = {path.resolve(): path for pattern in reversed(local) for path in _match(pattern, base, is_code)}
    repositories = {path for path in found if path.is_dir()}
    files = [
        _describe(path, base)
        for resolved, path in found.items()
        # A repository brings its files: a glob that reaches into it does not bring them again.
        if repositories.isdisjoint(resolved.parents)
    ]
    remote = {
        file.path: file for pattern in patterns if is_remote(pattern) for file in _match_remote(pattern)
    }
    files += remote.values()
    if patterns and not files:
        raise InputError(
            f"source {source.domain!r}: no file matches {', '.join(map(repr, patterns))} in {base.resolve()}; "
            f"correct corpus.source.paths (** crosses folders, hidden files must be named)"
        )
    return sorted(files, key=lambda file: file.name)


def _match(pattern: str, base: Path, is_code: bool) -> list[Path]:
    literal = base / Path(pattern).expanduser()
    if literal.is_file() or (is_code and is_repository(literal)):
        return [literal]
    if literal.is_dir():
        advice = f"write a glob of its files, e.g. '{Path(pattern)}/**/*{'' if is_code else '.txt'}'"
        raise InputError(f"{literal} is a folder{' and no git repository' if is_code else ''}; {advice}")
    if not glob.has_magic(pattern):
        raise InputError(f"{literal} does not exist; correct corpus.source.paths")
    # Path.glob matches hidden names, and takes no absolute pattern.
    names = glob.glob(  # noqa: PTH207
        str(Path(pattern).expanduser()), root_dir=base, recursive=True
    )
    paths = [base / name for name in names]
    return [path for path in paths if path.is_file() or (is_code and is_repository(path))]


def _describe(path: Path, base: Path) -> SourceFile:
    inside = path.is_relative_to(base)
    place = path.relative_to(base) if inside else path.absolute()
    # A name may be any bytes; what is not UTF-8 in it is shown as U+FFFD, the path itself stays as it is.
    name = os.fsencode(place.as_posix()).decode("utf-8", "replace")
    if path.is_dir():
        commit = head_of(path)
        size = sum(file.size for file in list_files(path, commit))
        return SourceFile(place.as_posix(), name, size, commit, is_repository=True)
    status = path.stat()
    return SourceFile(place.as_posix(), name, status.st_size, status.st_mtime_ns)


def _match_remote(pattern: str) -> list[SourceFile]:
    """The files behind a URL; `?` is no wildcard there, since it begins the query of a web address."""
    filesystem, path = open_filesystem(pattern)
    try:
        if "*" in path or "[" in path:
            found = filesystem.glob(path, detail=True)
        else:
            found = {path: filesystem.info(path)}
    except FileNotFoundError:
        raise InputError(f"{pattern} does not exist; correct corpus.source.paths") from None
    except DanluError:
        raise
    except Exception as error:  # each file system has errors of its own
        raise InputError(
            f"{pattern} cannot be listed: {error}; check the address and the access to it"
        ) from error
    return [
        _describe_remote(filesystem.unstrip_protocol(name), info)
        for name, info in found.items()
        if info.get("type") != "directory"
    ]


def _describe_remote(url: str, info: dict[str, Any]) -> SourceFile:
    mark = next((str(info[key]) for key in _MARKS if info.get(key) is not None), "")
    size = info.get("size")
    can_cut = size is not None and bool(info.get("partial", True))
    return SourceFile(url, url, _UNKNOWN_BYTES if size is None else int(size), mark, can_cut=can_cut)
