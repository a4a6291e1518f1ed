"""Retention: the last ones, the milestones, and never without a good one."""

import pytest
import torch

from danlu.checkpoint.load import load
from danlu.checkpoint.retain import prune
from danlu.checkpoint.save import save
from danlu.checkpoint.settings import CheckpointSettings
from danlu.checkpoint.steps import list_steps


def fill(directory, steps):
    for step in steps:
        save(directory, step, {"model": {"w": torch.full((3,), float(step))}}, {})


def damage(directory, step):
    (directory / f"step-{step:08d}" / "model.safetensors").write_bytes(b"")


@pytest.mark.parametrize(
    ("last", "every", "kept"),
    [
        (1, 0, [60]),
        (3, 0, [40, 50, 60]),
        (9, 0, [0, 10, 20, 30, 40, 50, 60]),
        (1, 20, [0, 20, 40, 60]),
        (2, 25, [0, 50, 60]),
    ],
)
def test_what_the_settings_keep_stays(tmp_path, last, every, kept):
    fill(tmp_path, range(0, 70, 10))
    removed = prune(tmp_path, CheckpointSettings(keep_last=last, keep_every_steps=every))
    assert list_steps(tmp_path) == kept
    assert removed == [step for step in range(0, 70, 10) if step not in kept]


@pytest.mark.parametrize("bad", [[3], [2, 3], [3, 4], [2, 3, 4], [1, 3, 4], [1, 2, 3, 4]])
def test_the_last_good_one_is_never_deleted(tmp_path, bad):
    fill(tmp_path, [1, 2, 3, 4])
    good = max({1, 2, 3, 4} - set(bad), default=None)
    for step in bad:
        damage(tmp_path, step)
    prune(tmp_path, CheckpointSettings(keep_last=2))
    if good is not None:
        assert load(tmp_path).step == good
        assert list_steps(tmp_path) == sorted({good, 3, 4})
    else:
        assert list_steps(tmp_path) == [3, 4]


def test_nothing_to_delete_is_nothing_to_read(tmp_path):
    fill(tmp_path, [1, 2])
    damage(tmp_path, 2)
    assert prune(tmp_path, CheckpointSettings(keep_last=2)) == []
    assert prune(tmp_path / "nowhere", CheckpointSettings()) == []
