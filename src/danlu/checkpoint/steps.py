"""The directory of a run's checkpoints: which steps it has, and how one comes, is replaced and goes.

Guarantees: a name step-NNNNNNNN appears and disappears by one rename, so a reader or a kill never meets half
a step. A directory cannot replace another in one rename, so the step that is replaced stays readable as
.old-step-NNNNNNNN until the new one is in place. Costs: two fsyncs of the parent a save. No torch.
"""

from __future__ import annotations

import re
from pathlib import Path

from danlu.checkpoint.manifest import Manifest, step_name, verify
from danlu.errors import DamagedError
from danlu.files import (
    ASIDE,
    aside,
    remove_directory,
    remove_temporaries,
    replace_directory,
    restore_directories,
)

_STEP = re.compile(rf"(?:{re.escape(ASIDE)})?step-(\d{{8,}})")


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
    return aside(path) if aside(path).is_dir() and not path.exists() else path


def newest_good(directory: Path) -> Manifest | None:
    """The manifest of the newest step that is whole, the one that load takes; None where there is no step.

    Reads and hashes every byte of it. Raises DamagedError where steps are there and all are damaged.
    """
    damage: list[str] = []
    for step in reversed(list_steps(directory)):
        try:
            return verify(step_path(directory, step))
        except DamagedError as error:
            damage.append(f"step {step}: {error}")
    if damage:
        raise DamagedError(f"every checkpoint in {directory} is damaged. " + ". ".join(damage))
    return None


def clean(directory: Path) -> None:
    """Removes what a killed save or prune left; never the only copy of a step."""
    restore_directories(directory)
    remove_temporaries(directory)


def put_in_place(temporary: Path, directory: Path, step: int) -> Path:
    """Gives a whole and synced temporary directory the name of its step, durably."""
    path = directory / step_name(step)
    replace_directory(temporary, path)
    return path


def remove_step(directory: Path, step: int) -> None:
    """Deletes a step."""
    remove_directory(step_path(directory, step))
