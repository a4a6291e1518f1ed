"""Saving: what is written, what is refused, and invariant 3: a kill at every write leaves a loadable checkpoint."""

import errno
import io
import json
import os
import shutil
import warnings

import pytest
import torch
from safetensors.torch import load_file

from danlu.checkpoint.load import load
from danlu.checkpoint.manifest import verify
from danlu.checkpoint.retain import prune
from danlu.checkpoint.save import save
from danlu.checkpoint.settings import CheckpointSettings
from danlu.checkpoint.steps import list_steps, step_path
from danlu.errors import DanluError, DivergedError

KEEP_TWO = CheckpointSettings(keep_last=2)


def content(step, version=0):
    generator = torch.Generator().manual_seed(1000 * step + version)
    weights = {"a.weight": torch.randn(7, 5, generator=generator), "b": torch.randn(3, generator=generator)}
    moments = {"a.weight/first": torch.randn(7, 5, generator=generator), "count": torch.tensor(step)}
    return {"model": weights, "optimizer": moments}, {"step": step, "version": version, "tokens": 640 * step}


def save_content(directory, step, version=0):
    return save(directory, step, *content(step, version))


def assert_holds(loaded, step, version=0):
    tensors, state = content(step, version)
    assert (loaded.step, loaded.state) == (step, state)
    assert loaded.tensors.keys() == tensors.keys()
    for stem, group in tensors.items():
        assert loaded.tensors[stem].keys() == group.keys()
        assert all(torch.equal(loaded.tensors[stem][name], value) for name, value in group.items())


def test_a_save_is_whole_and_plain(tmp_path):
    path = save_content(tmp_path / "checkpoints", 12)
    assert path == tmp_path / "checkpoints" / "step-00000012"
    names = sorted(file.name for file in path.iterdir())
    assert names == ["manifest.json", "model.safetensors", "optimizer.safetensors", "state.json"]
    assert [file.name for file in path.parent.iterdir()] == ["step-00000012"]
    weights = load_file(path / "model.safetensors")
    assert all(torch.equal(weights[name], value) for name, value in content(12)[0]["model"].items())
    assert_holds(load(path.parent), 12)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("stem", ["model", "optimizer"])
def test_numbers_that_are_not_finite_are_refused(tmp_path, value, stem):
    save_content(tmp_path, 1)
    tensors, state = content(2)
    next(iter(tensors[stem].values()))[3, 2] = value
    with pytest.raises(DivergedError, match=r"step 2, .*not finite"):
        save(tmp_path, 2, tensors, state)
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000001"]


@pytest.mark.parametrize(
    ("tensors", "state", "error"),
    [
        ({"model": {"a": [1.0]}}, {}, TypeError),
        ({"model": {"a": torch.zeros(2, dtype=torch.complex64)}}, {}, TypeError),
        ({"model": {"a": torch.zeros(2, 2).to_sparse()}}, {}, TypeError),
        ({"../model": {"a": torch.zeros(2)}}, {}, ValueError),
        ({}, {"rate": float("nan")}, ValueError),
        ({}, {"pair": (1, 2)}, TypeError),
        ({}, {"table": {1: 2}}, TypeError),
        ({}, {"object": object()}, TypeError),
    ],
)
def test_what_could_not_be_read_back_is_refused_before_anything_is_written(tmp_path, tensors, state, error):
    with pytest.raises(error):
        save(tmp_path / "checkpoints", 1, tensors, state)
    assert not (tmp_path / "checkpoints").exists()


def test_a_step_is_replaced_by_its_new_save(tmp_path):
    save_content(tmp_path, 5)
    save_content(tmp_path, 5, version=1)
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000005"]
    assert_holds(load(tmp_path), 5, version=1)


@pytest.fixture(autouse=True)
def _quick_fsync(monkeypatch):
    """No test here asks the device; what a missing fsync would lose is simulated by `lose_power`."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


class Disk:
    """Counts every change that danlu makes to the disk, from outside, and does something at the n-th.

    A raw write at which `act` comes is torn: half of its bytes are on the disk. `unsynced` and `closed_unsynced`
    hold the files whose content a power cut would lose.
    """

    def __init__(self, monkeypatch, act, at=None):
        self.act, self.at, self.kinds = act, at, []
        self.unsynced, self.closed_unsynced = {}, []
        real_open = io.open

        def open_file(file, mode="r", *args, **kwargs):
            if not set(mode) & set("wxa+"):
                return real_open(file, mode, *args, **kwargs)
            self.count("open")
            return io.BufferedWriter(RawFile(self, file, mode))

        monkeypatch.setattr(io, "open", open_file)
        for name in ("fsync", "rename", "replace", "mkdir", "unlink", "rmdir"):
            monkeypatch.setattr(os, name, self.wrap(name, getattr(os, name)))

    def wrap(self, name, function):
        def call(*args, **kwargs):
            self.count(name)
            result = function(*args, **kwargs)
            if name == "fsync" and args[0] in self.unsynced:
                os.close(self.unsynced.pop(args[0]))
            return result

        return call

    def count(self, kind):
        self.kinds.append(kind)
        if len(self.kinds) == self.at:
            self.act(self)


class RawFile(io.FileIO):
    """A file whose raw writes are counted."""

    def __init__(self, disk, file, mode):
        super().__init__(file, mode.replace("b", ""))
        self.disk = disk

    def write(self, data):
        self.disk.unsynced.setdefault(self.fileno(), os.dup(self.fileno()))
        if len(self.disk.kinds) + 1 == self.disk.at:
            super().write(memoryview(data)[: len(data) // 2])
        self.disk.count("write")
        return super().write(data)

    def close(self):
        if not self.closed and self.fileno() in self.disk.unsynced:
            self.disk.closed_unsynced.append(self.disk.unsynced.pop(self.fileno()))
        super().close()


def die(disk):
    os._exit(9)


def lose_power(disk):
    """Dies, and the content that was never synced is gone, wherever its name is by now."""
    for descriptor in [*disk.unsynced.values(), *disk.closed_unsynced]:
        os.ftruncate(descriptor, 0)
    os._exit(9)


def in_child(work):
    """Runs `work` in a forked child; its exit status."""
    with warnings.catch_warnings():
        # The child touches only small tensors, which never start a thread.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def count_changes(monkeypatch, work):
    with monkeypatch.context() as patch:
        disk = Disk(patch, die)
        work()
    return disk.kinds


def save_and_prune(directory, step, version):
    save_content(directory, step, version)
    prune(directory, KEEP_TWO)


@pytest.mark.parametrize(
    ("existing", "step", "act"),
    [([], 4, die), ([1, 2, 3], 4, die), ([1, 2, 3], 4, lose_power), ([3], 3, lose_power)],
)
def test_invariant_3_a_kill_at_every_write_of_a_save_leaves_the_old_or_the_new(
    tmp_path, monkeypatch, existing, step, act
):
    start = tmp_path / "start"
    start.mkdir()
    for old in existing:
        save_content(start, old)
    trial = tmp_path / "trial"
    shutil.copytree(start, trial)
    kinds = count_changes(monkeypatch, lambda: save_and_prune(trial, step, version=1))
    assert {"mkdir", "open", "write", "fsync", "rename"} <= set(kinds)
    seen = set()
    for at in range(1, len(kinds) + 1):
        shutil.rmtree(trial)
        shutil.copytree(start, trial)

        def work(at=at):
            Disk(monkeypatch, act, at)
            save_and_prune(trial, step, version=1)

        assert in_child(work) == 9
        seen.add(check_after_kill(trial, existing, step))
        save_and_prune(trial, step, version=1)
        assert_holds(load(trial), step, version=1)
        assert not [path.name for path in trial.iterdir() if not path.name[-1].isdigit()]
    assert seen == {"old", "new"}


def check_after_kill(directory, existing, step):
    if not existing and not list_steps(directory):
        return "old"
    assert all(verify(step_path(directory, each)) for each in list_steps(directory))
    loaded = load(directory)
    if loaded.state["version"] == 1:
        assert_holds(loaded, step, version=1)
        return "new"
    assert_holds(loaded, existing[-1])
    return "old"


@pytest.mark.parametrize(
    ("step", "code", "error", "message"),
    [
        (2, errno.ENOSPC, DanluError, "What was there before is intact"),
        (3, errno.ENOSPC, DanluError, "What was there before is intact"),
        (3, errno.EIO, OSError, os.strerror(errno.EIO)),
    ],
)
def test_a_disk_that_fails_at_any_write_leaves_what_was_there(
    tmp_path, monkeypatch, step, code, error, message
):
    def refuse(disk):
        raise OSError(code, os.strerror(code))

    for directory in (tmp_path / "probe", tmp_path / "run"):
        save_content(directory, 1)
        save_content(directory, 2)
    kinds = count_changes(monkeypatch, lambda: save_content(tmp_path / "probe", step))
    for at in range(1, kinds.index("rename") + 2):
        with monkeypatch.context() as patch:
            Disk(patch, refuse, at)
            with pytest.raises(error, match=message):
                save_content(tmp_path / "run", step, version=1)
        assert not [path for path in (tmp_path / "run").iterdir() if path.name.startswith(".tmp")]
        assert list_steps(tmp_path / "run") == [1, 2]
        assert_holds(load(tmp_path / "run"), 2)


def test_the_state_is_json_that_anyone_can_read(tmp_path):
    state = {"loss": 0.1 + 0.2, "name": "炉", "none": None, "list": [1, 2.5]}
    path = save(tmp_path, 1, {}, state)
    assert json.loads((path / "state.json").read_text(encoding="utf-8")) == state
