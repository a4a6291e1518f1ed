"""How danlu writes: whole or not at all. Atomic files, directories renamed into place, hashes, locks, line logs.

Guarantees: a reader never sees half a file; a crash at any byte leaves the old content or the new one; a directory
has one live owner. Costs: one fsync per file and one per directory.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from danlu.errors import BusyError, DamagedError, DanluError, MissingError

TEMPORARY = ".tmp-"
"""Prefix of everything that is not yet whole; such names are ignored by readers and removed by the next writer."""

ASIDE = ".old-"
"""Prefix of a whole directory while another takes its place; after a kill `restore_directory` brings it back."""


_ADVICE = {
    errno.ENOSPC: "free some space and type the same command again",
    errno.EDQUOT: "free some space and type the same command again",
    errno.EROFS: "use a directory that can be written",
    errno.EACCES: "use a directory that you may write",
    errno.EPERM: "use a directory that you may write",
}


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turns a full or forbidden disk into an error that names the path and says that nothing old was lost."""
    try:
        yield
    except OSError as error:
        if error.errno not in _ADVICE:
            raise
        raise DanluError(
            f"cannot write {path}: {os.strerror(error.errno)}. What was there before is intact; {_ADVICE[error.errno]}"
        ) from error


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a file atomically and durably."""
    write_blocks(path, [data])


def write_blocks(path: Path, blocks: Iterable[bytes]) -> None:
    """The same for a file that need not fit into memory; an error while the blocks are made leaves what was there."""
    with whole_file(path) as temporary, temporary.open("wb") as file:
        for block in blocks:
            file.write(block)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path to write a file to that takes the place of `path` when the block ends; an error leaves what was there.

    The block makes what it wrote durable.
    """
    temporary = path.with_name(f"{TEMPORARY}{path.name}")
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield temporary
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_directory(path.parent)


def write_json(path: Path, value: Any) -> None:
    """Writes JSON atomically; not-a-number is refused because other readers cannot parse it."""
    write_bytes(path, _encode(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"))


def _encode(text: str) -> bytes:
    """JSON as UTF-8; a lone surrogate, as in a file name that is not UTF-8, becomes its JSON escape."""
    return text.encode("utf-8", "backslashreplace")


def read_json(path: Path) -> Any:
    """Reads a JSON file of ours; a damaged one is named."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MissingError(f"{path} does not exist") from None
    except (ValueError, RecursionError) as error:
        raise DamagedError(
            f"{path} is damaged ({error}); remove it and type the same command again"
        ) from error


def append_line(path: Path, value: Any) -> None:
    """Appends one JSON object as a line, not-a-number refused; a torn last line of an earlier crash is ended first."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n"
    with disk_errors(path), path.open("ab+") as file:
        if file.tell() > 0:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                line = "\n" + line
        file.write(_encode(line))


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a line log; lines that a crash tore are left out."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for raw in file:
            try:
                value = json.loads(raw)
            except ValueError:
                continue
            if isinstance(value, dict):
                yield value


def aside(place: Path) -> Path:
    """Where a directory waits while its replacement comes."""
    return place.with_name(f"{ASIDE}{place.name}")


def replace_directory(new: Path, place: Path) -> None:
    """Gives a whole new directory the name of `place`, durably; what was there before goes last.

    A directory cannot replace another in one rename: in between, the old one waits at `aside(place)`. Where the second
    rename fails it is brought back at once, after a kill by `restore_directory`.
    """
    for path in (*new.rglob("*"), new):
        # The libraries that wrote some of these do not wait for the disk.
        sync_directory(path)
    restore_directory(place)
    if place.exists():
        place.rename(aside(place))
    try:
        new.rename(place)
    except OSError:
        restore_directory(place)
        raise
    sync_directory(place.parent)
    restore_directory(place)


def restore_directory(place: Path) -> None:
    """After a replacement that was cut off: the old directory is put back, or removed where the new one is there."""
    old = aside(place)
    if not old.is_dir():
        return
    if place.exists():
        remove_directory(old)
    else:
        old.rename(place)
        sync_directory(place.parent)


def restore_directories(parent: Path) -> None:
    """`restore_directory` for all that a kill left aside in a directory."""
    for old in sorted(parent.glob(f"{ASIDE}*")):
        restore_directory(old.with_name(old.name.removeprefix(ASIDE)))


def remove_directory(path: Path) -> None:
    """Takes the name away first, so that a kill while deleting leaves nothing that looks whole."""
    gone = path.with_name(f"{TEMPORARY}removed-{path.name}")
    shutil.rmtree(gone, ignore_errors=True)
    path.rename(gone)
    # What cannot be deleted now is deleted by the next writer, with the other temporaries.
    shutil.rmtree(gone, ignore_errors=True)


def sync_directory(path: Path) -> None:
    """Makes renames and new names in a directory durable; of a file, its content."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sha256_file(path: Path) -> str:
    """The SHA-256 of a file's content, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest(value: Any) -> str:
    """The SHA-256 of a JSON value in canonical form: what decides whether two settings are the same."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(_encode(text)).hexdigest()


def remove_temporaries(directory: Path) -> None:
    """Removes what an interrupted writer left half-written."""
    for path in directory.glob(f"{TEMPORARY}*"):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


@contextmanager
def lock(directory: Path) -> Iterator[None]:
    """Owns a directory until the block or the process ends, also by kill -9; a second owner is refused."""
    path = directory / ".lock"
    with disk_errors(path):
        directory.mkdir(parents=True, exist_ok=True)
        file = path.open("a+")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            owner = file.read().strip() or "another process"
            raise BusyError(
                f"{directory} is in use by {owner}. Wait for it, or give this run another name"
            ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        yield
