"""Whole or not at all: atomic writes, full disks, torn lines, damaged JSON, one owner for a directory."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from danlu import files
from danlu.errors import BusyError, DamagedError, DanluError, MissingError
from danlu.files import (
    append_line,
    aside,
    digest,
    disk_errors,
    lock,
    read_json,
    read_lines,
    remove_temporaries,
    replace_directory,
    restore_directories,
    restore_directory,
    sha256_file,
    write_bytes,
    write_json,
)


def names(directory: Path) -> list[str]:
    """What lies in a directory."""
    return sorted(path.name for path in directory.iterdir())


class FullDisk:
    """Stands for a file on a disk that takes a few bytes and then no more."""

    def __init__(self, path: Path, room: int) -> None:
        self.file, self.room = open(path, "wb"), room  # noqa: PTH123, SIM115 - Path.open is replaced by this

    def __enter__(self) -> FullDisk:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def write(self, data: bytes) -> None:
        """Writes what fits."""
        self.file.write(data[: self.room])
        self.file.flush()
        if len(data) > self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def flush(self) -> None:
        """Nothing is buffered."""


@pytest.mark.parametrize("room", [0, 1, 5])
def test_full_disk_keeps_the_old_file(room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "plan.json"
    write_bytes(path, b"old")
    monkeypatch.setattr(Path, "open", lambda self, *_: FullDisk(self, room))
    with pytest.raises(
        DanluError, match=r"cannot write .*plan\.json: No space left.*intact; free some space"
    ):
        write_bytes(path, b"new content")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["plan.json"], "nothing half-written stays"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_of_the_kernel() -> None:
    with pytest.raises(DanluError, match="No space left"):
        append_line(Path("/dev/full"), {"step": 1})


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_crash_before_the_rename_keeps_the_old_file(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise OSError(errno.EIO, "input/output error")

    path = tmp_path / "a.json"
    write_json(path, {"a": 1})
    monkeypatch.setattr(*((os, "fsync") if failing == "fsync" else (Path, "replace")), crash)
    with pytest.raises(OSError, match="input/output error"):
        write_json(path, {"a": 2})
    monkeypatch.undo()
    assert read_json(path) == {"a": 1}
    assert names(tmp_path) == ["a.json"]


def test_data_is_durable_before_the_name_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rename that reaches the disk before the data leaves an empty file after a power cut."""
    happened = []
    fsync, replace = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda number: (happened.append("fsync"), fsync(number))[1])
    monkeypatch.setattr(Path, "replace", lambda a, b: (happened.append("replace"), replace(a, b))[1])
    write_bytes(tmp_path / "deep" / "a", b"x")
    assert happened == ["fsync", "replace", "fsync"]


@pytest.mark.parametrize(
    ("number", "advice"),
    [(errno.EDQUOT, "free some space"), (errno.EROFS, "can be written"), (errno.EACCES, "may write")],
)
def test_disk_errors_give_the_fitting_advice(number: int, advice: str) -> None:
    with pytest.raises(DanluError, match=advice), disk_errors(Path("x")):
        raise OSError(number, "")


def test_other_errors_pass() -> None:
    with pytest.raises(FileNotFoundError), disk_errors(Path("x")):
        raise FileNotFoundError(errno.ENOENT, "gone")


def test_json_round_trip_with_text_of_all_kinds(tmp_path: Path) -> None:
    value = {"丹": "é\u2028\x00", "name that is not UTF-8": os.fsdecode(b"\xff.txt"), "n": 2**60, "f": 0.1}
    path = tmp_path / "a.json"
    write_json(path, value)
    assert read_json(path) == value
    path.read_text(encoding="utf-8")
    append_line(path.with_suffix(".jsonl"), value)
    assert list(read_lines(path.with_suffix(".jsonl"))) == [value]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_json_has_no_word_for_is_refused(number: float, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(tmp_path / "a.json", {"x": number})
    with pytest.raises(ValueError, match="JSON compliant"):
        append_line(tmp_path / "a.jsonl", {"x": number})
    assert not names(tmp_path)


@pytest.mark.parametrize("data", [b"", b'{"a": 1', b"\xff\xfe{}", b"[" * 100_000])
def test_damaged_json_is_named(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_bytes(data)
    with pytest.raises(DamagedError, match=r"manifest\.json is damaged"):
        read_json(path)


def test_missing_json_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"a\.json does not exist"):
        read_json(tmp_path / "a.json")


def test_log_survives_a_tear_at_every_byte(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    append_line(path, {"step": 1})
    append_line(path, {"step": 2})
    whole = path.read_bytes()
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        before = list(read_lines(path))
        append_line(path, {"step": 9})
        assert list(read_lines(path)) == [*before, {"step": 9}], f"torn at byte {size}"


def test_log_that_is_not_there_is_empty_and_other_values_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    assert list(read_lines(path)) == []
    path.write_text('{"a": 1}\n[1]\n3\n\n{"a": 2}\n')
    assert list(read_lines(path)) == [{"a": 1}, {"a": 2}]


def test_sha256_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 1_000_003)
    assert sha256_file(path) == hashlib.sha256(b"x" * 1_000_003).hexdigest()


def test_digest_ignores_order_and_is_frozen() -> None:
    assert digest({"a": 1, "b": [1, 2]}) == digest({"b": [1, 2], "a": 1})
    assert digest({"a": 1}) != digest({"a": 1.5})
    assert digest({"a": [2, 1]}) != digest({"a": [1, 2]})
    assert digest({}) == hashlib.sha256(b"{}").hexdigest()
    assert digest({"丹": 1}) == hashlib.sha256('{"丹":1}'.encode()).hexdigest()
    assert digest(json.loads(json.dumps({"a": 1e-4}))) == digest({"a": 0.0001})


def test_remove_temporaries_leaves_the_rest(tmp_path: Path) -> None:
    (tmp_path / ".tmp-step-3").mkdir()
    (tmp_path / ".tmp-step-3" / "model").write_bytes(b"x")
    (tmp_path / ".tmp-a.json").write_bytes(b"x")
    (tmp_path / "kept").mkdir()
    (tmp_path / ".tmp-link").symlink_to(tmp_path / "kept")
    remove_temporaries(tmp_path)
    assert names(tmp_path) == ["kept"]


def test_lock_refuses_a_second_owner_in_the_same_process_and_frees(tmp_path: Path) -> None:
    with lock(tmp_path / "run"):
        with (
            pytest.raises(BusyError, match=rf"run is in use by process {os.getpid()} on "),
            lock(tmp_path / "run"),
        ):
            pytest.fail("two owners")
        with lock(tmp_path / "other"):
            pass
    with lock(tmp_path / "run"):
        pass


def test_lock_frees_when_the_block_fails(tmp_path: Path) -> None:
    with pytest.raises(KeyError), lock(tmp_path):
        raise KeyError
    with lock(tmp_path):
        pass


def test_lock_ends_with_kill_9(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib, danlu.files as f\n"
        "with f.lock(pathlib.Path(sys.argv[1])):\n    print('locked', flush=True)\n    sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout
        assert owner.stdout.readline() == b"locked\n"
        with pytest.raises(BusyError, match=f"process {owner.pid}"), lock(tmp_path):
            pytest.fail("two owners")
        owner.send_signal(signal.SIGKILL)
        owner.wait()
        with lock(tmp_path):
            assert str(os.getpid()) in (tmp_path / ".lock").read_text()


def test_lock_in_a_directory_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "")

    monkeypatch.setattr(files.Path, "mkdir", refuse)
    with pytest.raises(DanluError, match="Read-only file system"), lock(tmp_path / "run"):
        pytest.fail("no directory")


class Killed(BaseException):
    """What a kill is to the code that it hits: nothing catches it."""


def folder(path: Path, content: str) -> Path:
    """A directory with a file in a directory."""
    (path / "sub").mkdir(parents=True)
    (path / "sub" / "a").write_text(content)
    return path


def count_or_fail(patch: pytest.MonkeyPatch, at: int | None, error: BaseException) -> list[str]:
    """Counts the calls that change the disk, and fails in place of the one of number `at`."""
    calls: list[str] = []

    def wrap(name: str) -> None:
        real = getattr(os, name)

        def call(*args: object, **kwargs: object) -> object:
            calls.append(name)
            if len(calls) == at:
                raise error
            return real(*args, **kwargs)

        patch.setattr(os, name, call)

    for name in ("fsync", "rename", "replace", "unlink", "rmdir"):
        wrap(name)
    return calls


@pytest.mark.parametrize("existing", [True, False])
def test_a_kill_at_every_call_of_a_replacement_loses_neither_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, existing: bool
) -> None:
    seen, at, finished = set(), 0, False
    while not finished:
        at += 1
        parent = tmp_path / str(at)
        place = parent / "corpus"
        parent.mkdir()
        if existing:
            folder(place, "old")
        new = folder(parent / ".tmp-corpus", "new")
        with monkeypatch.context() as patch:
            count_or_fail(patch, at, Killed())
            try:
                replace_directory(new, place)
                finished = True
            except Killed:
                pass
        restore_directories(parent)
        remove_temporaries(parent)
        assert names(parent) == (["corpus"] if existing or place.exists() else [])
        seen.add((place / "sub" / "a").read_text() if place.exists() else "nothing")
        replace_directory(folder(parent / ".tmp-corpus", "newer"), place)
        assert (place / "sub" / "a").read_text() == "newer"
        assert names(parent) == ["corpus"]
    assert seen == {"old" if existing else "nothing", "new"}
    assert at > 5


def test_a_replacement_that_fails_at_any_call_leaves_the_old_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = folder(tmp_path / "corpus", "old")
    with monkeypatch.context() as patch:
        calls = count_or_fail(patch, None, OSError())
        replace_directory(folder(tmp_path / ".tmp-x", "old"), place)
    into_place = [number for number, name in enumerate(calls, 1) if name == "rename"][1]
    for at in range(1, into_place + 1):
        new = folder(tmp_path / f".tmp-{at}", "new")
        with monkeypatch.context() as patch:
            count_or_fail(patch, at, OSError(errno.EIO, "failing disk"))
            with pytest.raises(OSError, match="failing disk"):
                replace_directory(new, place)
        assert (place / "sub" / "a").read_text() == "old"
        assert not aside(place).exists()


def test_a_replacement_is_durable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    real_sync, real_rename = os.fsync, os.rename

    def sync(descriptor: int) -> None:
        order.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        real_sync(descriptor)

    def rename(*paths: str) -> None:
        order.append("rename")
        real_rename(*paths)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "rename", rename)
    replace_directory(folder(tmp_path / ".tmp-new", "new"), tmp_path / "place")
    assert set(order[:3]) == {".tmp-new", "sub", "a"}
    assert order[3:] == ["rename", tmp_path.name]


def test_what_waits_aside_is_put_back_or_removed(tmp_path: Path) -> None:
    place = tmp_path / "corpus"
    folder(aside(place), "old")
    restore_directory(place)
    assert (place / "sub" / "a").read_text() == "old"
    folder(aside(place), "older")
    restore_directory(place)
    assert (place / "sub" / "a").read_text() == "old"
    assert names(tmp_path) == ["corpus"]
