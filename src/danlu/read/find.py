"""Which files a source names: globs to a sorted list, each file once.

Decides: globs are relative to the recipe's folder, or absolute; `**` crosses folders; names that begin with a dot
only match where the glob spells the dot; a file reached twice is read once; a name without wildcards must exist.
Costs: one stat a file.
"""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from pathlib import Path

from danlu.errors import InputError
from danlu.read.settings import PYTHON_PREFIX, Source


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a source. `name` is its path relative to the recipe where it lies below it."""

    path: Path
    name: str
    size: int
    mtime_ns: int


def find_files(source: Source, base: Path) -> list[SourceFile]:
    """The files that the globs of a source name, sorted by name.

    Raises InputError where nothing is found, or a name without wildcards does not exist.
    """
    patterns = [pattern for pattern in source.paths if not pattern.startswith(PYTHON_PREFIX)]
    found = {path.resolve(): path for pattern in reversed(patterns) for path in _match(pattern, base)}
    if patterns and not found:
        raise InputError(
            f"source {source.domain!r}: no file matches {', '.join(map(repr, patterns))} in {base.resolve()}; "
            f"correct corpus.source.paths (** crosses folders, hidden files must be named)"
        )
    return sorted((_describe(path, base) for path in found.values()), key=lambda file: file.name)


def _match(pattern: str, base: Path) -> list[Path]:
    if "://" in pattern:
        raise InputError(
            f"{pattern!r}: only local files can be read; copy the text here and name it in corpus.source.paths"
        )
    literal = base / Path(pattern).expanduser()
    if literal.is_file():
        return [literal]
    if literal.is_dir():
        raise InputError(f"{literal} is a folder; write a glob of its files, e.g. '{Path(pattern)}/**/*.txt'")
    if not glob.has_magic(pattern):
        raise InputError(f"{literal} does not exist; correct corpus.source.paths")
    # Path.glob matches hidden names, and takes no absolute pattern.
    names = glob.glob(  # noqa: PTH207
        str(Path(pattern).expanduser()), root_dir=base, recursive=True
    )
    return [path for name in names if (path := base / name).is_file()]


def _describe(path: Path, base: Path) -> SourceFile:
    status = path.stat()
    inside = path.is_relative_to(base)
    place = path.relative_to(base) if inside else path.absolute()
    # A name may be any bytes; what is not UTF-8 in it is shown as U+FFFD, the path itself stays as it is.
    name = os.fsencode(place.as_posix()).decode("utf-8", "replace")
    return SourceFile(path, name, status.st_size, status.st_mtime_ns)
