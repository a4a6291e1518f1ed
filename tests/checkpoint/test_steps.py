"""The directory of steps: names, replacement and removal."""

import pytest
import torch

from danlu.checkpoint.load import load
from danlu.checkpoint.save import save
from danlu.checkpoint.steps import clean, list_steps, newest_good, put_in_place, remove_step, step_path
from danlu.errors import DamagedError


def make(directory, name, content="x"):
    path = directory / name
    path.mkdir(parents=True)
    (path / "file").write_text(content)
    return path


def test_only_whole_steps_are_listed_in_order_of_number(tmp_path):
    assert list_steps(tmp_path / "nowhere") == []
    for name in (
        "step-00000020",
        "step-00000003",
        "step-123456789",
        ".tmp-step-00000007",
        "step-5",
        "export",
    ):
        make(tmp_path, name)
    make(tmp_path, "step-000000004")
    (tmp_path / "step-00000009").write_text("a file")
    assert list_steps(tmp_path) == [3, 20, 123456789]


def test_a_step_left_aside_by_a_kill_is_still_that_step(tmp_path):
    aside = make(tmp_path, ".old-step-00000004")
    assert list_steps(tmp_path) == [4]
    assert step_path(tmp_path, 4) == aside
    clean(tmp_path)
    place = tmp_path / "step-00000004"
    assert list_steps(tmp_path) == [4]
    assert step_path(tmp_path, 4) == place
    make(tmp_path, ".old-step-00000004")
    assert list_steps(tmp_path) == [4]
    assert step_path(tmp_path, 4) == place
    clean(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000004"]


def test_a_new_save_goes_past_one_left_aside(tmp_path):
    make(tmp_path, ".old-step-00000004", "old")
    path = put_in_place(make(tmp_path, ".tmp-step-00000004", "new"), tmp_path, 4)
    assert (path / "file").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000004"]


def test_a_failed_replacement_leaves_the_old_step(tmp_path, monkeypatch):
    make(tmp_path, "step-00000004", "old")
    with pytest.raises(FileNotFoundError):
        put_in_place(tmp_path / "missing", tmp_path, 4)
    assert (step_path(tmp_path, 4) / "file").read_text() == "old"


def test_a_removed_step_is_gone_whole(tmp_path):
    make(tmp_path, "step-00000004")
    remove_step(tmp_path, 4)
    assert not list(tmp_path.iterdir())


def test_the_newest_good_step_is_the_one_that_load_takes(tmp_path):
    assert newest_good(tmp_path / "nowhere") is None
    for step in (2, 4):
        save(tmp_path, step, {"model": {"a": torch.zeros(2)}}, {"step": step})
    assert newest_good(tmp_path).step == load(tmp_path).step == 4
    (tmp_path / "step-00000004" / "manifest.json").unlink()
    assert newest_good(tmp_path).step == load(tmp_path).step == 2
    (tmp_path / "step-00000002" / "state.json").write_text("{}")
    for find in (newest_good, load):
        with pytest.raises(DamagedError, match="every checkpoint"):
            find(tmp_path)
