"""The directory of a run's checkpoints: which steps it has, and how one comes, is replaced and goes.

Guarantees: a name step-NNNNNNNN appears and disappears by one rename, so a reader or a kill never meets half
a step. A directory cannot replace another in one rename, so the step that is replaced stays readable as
step-NNNNNNNN.old until the new one is in place. Costs: two fsyncs of the parent a save. No torch.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from danlu.checkpoint.manifest import step_name
from danlu.files import TEMPORARY, remove_temporaries, sync_directory

_OLD = ".old"
_STEP = re.compile(r"step-(\d{8,})(\.old)?")


def list_steps(directory: Path) -> list[int]:
    """The steps that are there, ascending; whether they are good is for load to say."""
    if not directory.is_dir():
        return []
    matches = [_STEP.fullmatch(path.name) for path in directory.iterdir() if path.is_dir()]
    steps = {int(match[1]) for match in matches if match}
    return sorted(step for step in steps if step_path(directory, step).is_dir())


def step_path(directory: Path, step: int) -> Path:
    """Where a step is: its own name, or the aside one where a kill came between the two renames of a
    replacement.
    """
    path = directory / step_name(step)
    old = path.with_name(path.name + _OLD)
    return old if old.is_dir() and not path.exists() else path


def clean(directory: Path) -> None:
    """Removes what a killed save or prune left; never the only copy of a step."""
    remove_temporaries(directory)
    for old in directory.glob(f"step-*{_OLD}"):
        if old.with_name(old.name.removesuffix(_OLD)).exists():
            _remove(old)


def put_in_place(temporary: Path, directory: Path, step: int) -> Path:
    """Gives a whole and synced temporary directory the name of its step, durably."""
    path = directory / step_name(step)
    old = path.with_name(path.name + _OLD)
    if path.exists():
        path.rename(old)
    temporary.rename(path)
    sync_directory(directory)
    if old.exists():
        _remove(old)
    return path


def remove_step(directory: Path, step: int) -> None:
    """Deletes a step."""
    _remove(step_path(directory, step))


def _remove(path: Path) -> None:
    """Takes the name away first, so that a kill while deleting leaves no damaged step behind."""
    gone = path.with_name(f"{TEMPORARY}removed-{path.name}")
    path.rename(gone)
    shutil.rmtree(gone)
