"""The tracked files of a git repository at one commit, read through git itself.

Decides: links and submodules are no files of the repository. Guarantees: nothing of the repository is run (no hooks,
filters, fetches), and whatever happens to the work tree meanwhile changes nothing: what is read is the commit.
Costs: one process for the list, one for all contents, about 100 MB/s.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from danlu.errors import InputError, MissingError

_SAFE = ("--no-replace-objects", "-c", "protocol.allow=never", "-c", "core.fsmonitor=false")
_BLOB = "blob"
_LINK = "120000"


class TrackedFile(NamedTuple):
    """A file of a commit: its path as git has it, its object and its size in bytes."""

    path: str
    object: str
    size: int


def is_repository(path: Path) -> bool:
    """Whether a folder is the top of a git work tree, or a bare repository."""
    return path.is_dir() and _git_directory(path) is not None


def head_of(path: Path) -> str:
    """The commit that HEAD names. Raises InputError where there is none."""
    return _run(path, "rev-parse", "--verify", "HEAD^{commit}").decode().strip()


def list_files(path: Path, commit: str) -> list[TrackedFile]:
    """The files of a commit in git's order; paths that are not UTF-8 hold surrogate escapes."""
    files = []
    for row in _run(path, "ls-tree", "-r", "-l", "-z", "--full-tree", commit).split(b"\0")[:-1]:
        head, _, name = row.partition(b"\t")
        mode, kind, number, size = head.decode().split()
        if kind == _BLOB and mode != _LINK:
            files.append(TrackedFile(os.fsdecode(name), number, int(size)))
    return files


def list_submodules(path: Path, commit: str) -> list[str]:
    """Folders of a commit whose files another repository holds."""
    rows = _run(path, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]
    return [os.fsdecode(row.partition(b"\t")[2]) for row in rows if row.split()[1] == b"commit"]


def read_contents(path: Path, files: Iterable[TrackedFile]) -> Iterator[bytes]:
    """The bytes of each file in order, one in memory at a time."""
    with _start(path, "cat-file", "--batch") as process:
        asked, answered = process.stdin, process.stdout
        assert asked
        assert answered
        for file in files:
            asked.write(f"{file.object}\n".encode())
            asked.flush()
            head = answered.readline().split()
            if len(head) != 3:
                raise InputError(
                    f"{path}: git has no content of {file.path}; the repository is damaged or partly fetched: "
                    f"run `git fsck` there, or clone it whole"
                )
            data = answered.read(int(head[2]))
            answered.read(1)
            yield data


def _git_directory(path: Path) -> Path | None:
    if (path / ".git").exists():
        return path / ".git"
    is_bare = (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()
    return path if is_bare else None


def _command(path: Path, *words: str) -> list[str]:
    # The directory is named, so that another owner's repository on a shared disk can be read.
    return ["git", f"--git-dir={_git_directory(path)}", *_SAFE, *words]


def _environment() -> dict[str, str]:
    """The process's, without what would send git to another repository or to the network."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return {**kept, "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


def _run(path: Path, *words: str) -> bytes:
    try:
        done = subprocess.run(_command(path, *words), capture_output=True, env=_environment(), check=False)
    except FileNotFoundError:
        raise MissingError(f"{path} is a git repository, and git is not installed; install git") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise InputError(f"{path}: git cannot read the repository ({said[0] if said else 'no reason given'})")
    return done.stdout


@contextmanager
def _start(path: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        _command(path, *words),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(),
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
