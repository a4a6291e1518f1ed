"""Loading a step: the newest that is good, every byte verified before it is used.

Guarantees: the bytes that were hashed are the bytes handed out (one read, no second look at the disk); a
damaged step is named, never loaded; nothing good or nothing there is an error that lists what exists. Costs:
one read and one SHA-256, one copy of the checkpoint in memory.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from danlu.checkpoint.manifest import STATE, Entry, check_hash, check_names, read_manifest, reading
from danlu.checkpoint.steps import list_steps, step_path
from danlu.checkpoint.tensors import decode
from danlu.errors import DamagedError, MissingError


@dataclass(frozen=True, slots=True)
class Loaded:
    """A verified checkpoint.

    `tensors`: file stem -> name -> tensor (CPU). `skipped`: why newer steps were not taken.
    """

    step: int
    tensors: dict[str, dict[str, Tensor]]
    state: dict[str, Any]
    skipped: tuple[str, ...] = ()


def load(directory: Path, step: int | None = None) -> Loaded:
    """Loads `step`, or the newest good step of a run's checkpoint directory.

    Raises MissingError where the step, or any step, is missing (it lists what exists); DamagedError where the
    named step, or all of them, are damaged; MismatchError for a later format.
    """
    steps = list_steps(directory)
    if not steps:
        raise MissingError(f"there is no checkpoint in {directory}; it {_content(directory)}")
    if step is not None:
        if step not in steps:
            raise MissingError(
                f"there is no step {step} in {directory}; there is {', '.join(map(str, steps))}"
            )
        return _load_step(directory, step)
    skipped: list[str] = []
    for candidate in reversed(steps):
        try:
            loaded = _load_step(directory, candidate)
        except DamagedError as error:
            skipped.append(f"step {candidate}: {error}")
        else:
            return Loaded(loaded.step, loaded.tensors, loaded.state, tuple(skipped))
    raise DamagedError(f"every checkpoint in {directory} is damaged. " + ". ".join(skipped))


def _load_step(directory: Path, step: int) -> Loaded:
    path = step_path(directory, step)
    manifest = read_manifest(path)
    check_names(path, manifest)
    tensors, state = {}, None
    for entry in manifest.files:
        file = path / entry.name
        data = _read_verified(file, entry)
        if entry.name == STATE:
            with reading(file):
                state = json.loads(data.numpy().tobytes().decode("utf-8"))
        else:
            tensors[file.stem] = decode(data, str(file))
    if not isinstance(state, dict):
        raise DamagedError(f"{path / STATE} does not hold the state of a run")
    return Loaded(step, tensors, state)


def _read_verified(path: Path, entry: Entry) -> Tensor:
    """The content of a file, uint8, hashed in memory; the size is known to be right before anything is
    allocated.
    """
    data = torch.empty(entry.bytes, dtype=torch.uint8)
    view = data.numpy().data
    with reading(path), path.open("rb", buffering=0) as file:
        done = 0
        while done < entry.bytes and (count := file.readinto(view[done:])):
            done += count
    check_hash(path, entry, hashlib.sha256(view).hexdigest() if done == entry.bytes else "cut short")
    return data


def _content(directory: Path) -> str:
    """What a directory without a checkpoint has instead."""
    if not directory.is_dir():
        return "does not exist"
    names = sorted(path.name for path in directory.iterdir())
    return f"holds {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}" if names else "is empty"
