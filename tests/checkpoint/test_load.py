"""Loading: every kind of damage is found and named, the newest good step is taken, nothing is ever unpickled."""

import json
import pickle
import shutil
from pathlib import Path

import pytest
import torch

from danlu.checkpoint.load import load
from danlu.checkpoint.manifest import Entry, Manifest
from danlu.checkpoint.save import save
from danlu.errors import DamagedError, MismatchError, MissingError
from danlu.files import sha256_file

FILES = ["manifest.json", "model.safetensors", "optimizer.safetensors", "state.json"]


def save_step(directory, step):
    values = torch.arange(6.0).reshape(2, 3) + step
    tensors = {"model": {"w": values}, "optimizer": {"m": values / 2, "v": values * 2}}
    return save(directory, step, tensors, {"step": step})


@pytest.fixture
def run(tmp_path):
    for step in (10, 20, 30):
        save_step(tmp_path, step)
    return tmp_path


def step_of(run, step):
    return run / f"step-{step:08d}"


def assert_falls_back(run, pattern):
    with pytest.raises(DamagedError, match=pattern):
        load(run, 30)
    loaded = load(run)
    assert loaded.step == loaded.state["step"] == 20
    assert torch.equal(loaded.tensors["model"]["w"], torch.arange(6.0).reshape(2, 3) + 20)
    assert len(loaded.skipped) == 1
    assert loaded.skipped[0].startswith("step 30: ")


def test_the_newest_good_step_is_loaded(run):
    loaded = load(run)
    assert (loaded.step, loaded.skipped) == (30, ())
    assert load(run, 10).state == {"step": 10}


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_in_any_byte_is_found(run, name):
    file = step_of(run, 30) / name
    good = file.read_bytes()
    for at in range(len(good)):
        file.write_bytes(good[:at] + bytes([good[at] ^ (1 << at % 8)]) + good[at + 1 :])
        with pytest.raises((DamagedError, MismatchError)):
            load(run, 30)
    file.write_bytes(good)
    assert load(run).step == 30


@pytest.mark.parametrize("name", FILES)
def test_a_file_cut_short_or_grown_is_found(run, name):
    file = step_of(run, 30) / name
    good = file.read_bytes()
    for size in {0, 1, len(good) // 2, len(good) - 2}:
        file.write_bytes(good[:size])
        assert_falls_back(run, name)
    file.write_bytes(good + b"\0")
    assert_falls_back(run, name)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_found(run, name):
    (step_of(run, 30) / name).unlink()
    assert_falls_back(run, name)


@pytest.mark.parametrize("name", ["weights.bin", ".hidden", "model.pt"])
def test_an_extra_file_is_found(run, name):
    (step_of(run, 30) / name).write_bytes(b"")
    assert_falls_back(run, "does not list")


@pytest.mark.parametrize("name", FILES)
def test_a_file_swapped_between_steps_is_found(run, name):
    shutil.copy(step_of(run, 10) / name, step_of(run, 30) / name)
    assert_falls_back(run, "step")


def test_a_whole_step_under_another_name_is_found(run):
    shutil.rmtree(step_of(run, 30))
    shutil.copytree(step_of(run, 10), step_of(run, 30))
    assert_falls_back(run, "holds the checkpoint of step 10")


def test_files_swapped_within_a_step_are_found(run):
    model, optimizer = (step_of(run, 30) / name for name in FILES[1:3])
    content = model.read_bytes()
    model.write_bytes(optimizer.read_bytes())
    optimizer.write_bytes(content)
    assert_falls_back(run, "safetensors")


def test_a_link_or_a_directory_in_place_of_a_file_is_refused(run, tmp_path_factory):
    file = step_of(run, 30) / "model.safetensors"
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "file"
    shutil.move(file, elsewhere)
    file.symlink_to(elsewhere)
    assert_falls_back(run, "not a regular file")
    file.unlink()
    file.mkdir()
    assert_falls_back(run, "not a regular file")


def edit_manifest(directory, edit):
    path = directory / "manifest.json"
    value = json.loads(path.read_text())
    edit(value)
    path.write_text(json.dumps(value))


@pytest.mark.parametrize(
    "edit",
    [
        lambda value: value.update(step=31),
        lambda value: value["files"][0].update(bytes=1),
        lambda value: value["files"][0].update(sha256="0" * 64),
        lambda value: value["files"].pop(),
        lambda value: value.update(digest="0" * 64),
        lambda value: value.pop("digest"),
        lambda value: value.update(version=2),
        lambda value: value.update(note="hello"),
    ],
)
def test_an_edited_manifest_is_found(run, edit):
    edit_manifest(step_of(run, 30), edit)
    assert_falls_back(run, r"manifest\.json was changed")


@pytest.mark.parametrize("step", [10, 20, 30])
def test_all_damaged_is_an_error_that_names_each(run, step):
    for each in (10, 20, 30):
        (step_of(run, each) / "state.json").write_bytes(b"{}")
    with pytest.raises(DamagedError, match=f"every checkpoint.*step-{step:08d}"):
        load(run)


def test_nothing_there_is_an_error_that_lists_what_is(tmp_path):
    with pytest.raises(MissingError, match="does not exist"):
        load(tmp_path / "nowhere")
    with pytest.raises(MissingError, match="is empty"):
        load(tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(MissingError, match=r"holds pytorch_model\.bin"):
        load(tmp_path)


def test_a_missing_step_lists_those_that_exist(run):
    with pytest.raises(MissingError, match=r"no step 25 .*10, 20, 30"):
        load(run, 25)


def rewrite(directory, name, data):
    """A hostile writer's directory: the manifest agrees with the file."""
    (directory / name).write_bytes(data)
    files = [file for file in sorted(directory.iterdir()) if file.name != "manifest.json"]
    entries = tuple(Entry(file.name, file.stat().st_size, sha256_file(file)) for file in files)
    (directory / "manifest.json").write_bytes(Manifest(30, entries).encode())


class Bomb:
    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return (Path.touch, (self.target,))


@pytest.mark.parametrize("name", ["model.safetensors", "state.json", "manifest.json"])
def test_a_pickle_is_never_opened(run, tmp_path_factory, name):
    target = tmp_path_factory.mktemp("target") / "touched"
    rewrite(step_of(run, 30), "model.safetensors", (step_of(run, 30) / "model.safetensors").read_bytes())
    data = pickle.dumps(Bomb(target))
    if name == "manifest.json":
        (step_of(run, 30) / name).write_bytes(data)
    else:
        rewrite(step_of(run, 30), name, data)
    assert_falls_back(run, name)
    assert not target.exists()


@pytest.mark.parametrize("data", [b"[1]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"a": '])
def test_a_state_that_is_no_table_is_refused(run, data):
    rewrite(step_of(run, 30), "state.json", data)
    assert_falls_back(run, r"state\.json")


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"null", b"\x80\x04", b"[" * 100_000, b'{"format": "danlu-checkpoint"}', b"9" * 5000]
)
def test_a_foreign_manifest_is_refused(run, data):
    (step_of(run, 30) / "manifest.json").write_bytes(data)
    assert_falls_back(run, r"manifest\.json")


def test_a_file_that_cannot_be_read_is_damage(run, monkeypatch):
    real = Path.open

    def open_file(path, *args, **kwargs):
        if path.parent.name == "step-00000030" and path.name == "model.safetensors":
            raise OSError(5, "Input/output error")
        return real(path, *args, **kwargs)

    monkeypatch.setattr(Path, "open", open_file)
    assert_falls_back(run, "Input/output error")
