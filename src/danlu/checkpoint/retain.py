"""Which saves stay: the last few, the milestones, and always one that is known to be good.

Guarantees: before anything is deleted, one of the steps that stay has been verified; where none is good, the
newest good one of those that would go stays too. Costs: one read and hash of one checkpoint whenever
something is deleted. No torch.
"""

from __future__ import annotations

from pathlib import Path

from danlu.checkpoint.manifest import verify
from danlu.checkpoint.settings import CheckpointSettings
from danlu.checkpoint.steps import clean, list_steps, remove_step, step_path
from danlu.errors import DamagedError, MismatchError


def prune(directory: Path, settings: CheckpointSettings) -> list[int]:
    """Deletes the steps that `settings` does not keep; returns them."""
    clean(directory)
    steps = list_steps(directory)
    keep = _kept(steps, settings)
    remove = [step for step in steps if step not in keep]
    if remove and not any(_good(directory, step) for step in sorted(keep, reverse=True)):
        good = next((step for step in reversed(remove) if _good(directory, step)), None)
        remove = [step for step in remove if step != good]
    for step in remove:
        remove_step(directory, step)
    return remove


def _kept(steps: list[int], settings: CheckpointSettings) -> set[int]:
    every = settings.keep_every_steps
    milestones = {step for step in steps if every and step % every == 0}
    return milestones | set(steps[-settings.keep_last :])


def _good(directory: Path, step: int) -> bool:
    try:
        verify(step_path(directory, step))
    except (DamagedError, MismatchError):
        return False
    return True
