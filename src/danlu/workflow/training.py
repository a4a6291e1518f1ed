"""Is the training in this directory the one that the recipe asks for? If not, refuse before anything is touched.

Guarantees: checkpoints are never continued with other settings or other text, never overwritten by another recipe,
and never started over in silence. `training.json` is written before the first step: what decided the training.
Costs: one small JSON file. No torch.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from danlu.checkpoint.manifest import verify
from danlu.checkpoint.steps import list_steps, step_path
from danlu.config import differences
from danlu.corpus.settings import decisive
from danlu.errors import DamagedError, MismatchError
from danlu.files import read_json, write_json
from danlu.recipe import Recipe, with_defaults
from danlu.train.identity import identity

IDENTITY = "training.json"
_OF_THE_TRAINING = (
    "checkpoints",
    "plan.json",
    "plan.manifest.json",
    "metrics.jsonl",
    "evaluations.jsonl",
    "evaluations.manifest.json",
    "explained.json",
    "explained.manifest.json",
    "demo.json",
    "events.jsonl",
    "heartbeat",
    "samples.jsonl",
    "export",
    "report.html",
    IDENTITY,
)
"""What --fresh removes: all that follows from the text but is not made of it. IDENTITY goes last, as a guard."""


def decisive_settings(recipe: Recipe) -> dict[str, Any]:
    """The parts of the recipe that decide the weights: text, tokenizer, data order, network, optimiser, length."""
    settings = identity(recipe, total_tokens=0, data="", tokenizer="")
    for name in ("data", "tokenizer"):
        settings.pop(name)
    settings["train"].pop("total_tokens")
    whole = recipe.model_dump(mode="json", exclude_none=True)
    lengths = {key: whole["train"][key] for key in ("tokens", "steps", "minutes") if key in whole["train"]}
    train = {**settings["train"], **lengths}
    return {**settings, "train": train, "corpus": decisive(recipe.corpus), "tokenizer": whole["tokenizer"]}


def has_checkpoints(directory: Path) -> bool:
    """Whether a training has saved anything here."""
    return bool(list_steps(directory / "checkpoints"))


def is_saved(directory: Path, step: int) -> bool:
    """Whether a step, the last one of a plan, is saved and whole; every byte of it is read."""
    if step not in list_steps(directory / "checkpoints"):
        return False
    try:
        verify(step_path(directory / "checkpoints", step))
    except DamagedError:
        return False
    return True


def record_training(recipe: Recipe, directory: Path, inputs: Mapping[str, str], total_tokens: int) -> None:
    """Before the first step: what this training is made of. `inputs` has one digest a stage before it."""
    if not has_checkpoints(directory):
        value = {
            "settings": decisive_settings(recipe),
            "inputs": dict(inputs),
            "total_tokens": total_tokens,
        }
        write_json(directory / IDENTITY, value)


def recorded_tokens(directory: Path) -> int | None:
    """The length that a training with checkpoints has fixed; None if there is none yet."""
    return int(_recorded(directory)["total_tokens"]) if has_checkpoints(directory) else None


def refuse_another_training(recipe: Recipe, directory: Path) -> None:
    """Raises MismatchError, listing what differs, if there are checkpoints of other settings."""
    if has_checkpoints(directory):
        now = decisive_settings(recipe)
        changed = differences(with_defaults(_recorded(directory)["settings"], now), now)
        if changed:
            _refuse(directory, "another recipe; what differs (saved -> now)", changed)


def refuse_other_data(directory: Path, stage: str, outputs: str, why: str) -> None:
    """Raises MismatchError if a redone stage came out different from what the checkpoints were trained on."""
    if has_checkpoints(directory) and _recorded(directory)["inputs"].get(stage) != outputs:
        _refuse(directory, f"another {stage}; it was redone and came out different", [why])


def remove_training(directory: Path) -> list[str]:
    """Removes the training and what follows from it; corpus, tokenizer and tokens stay. Returns what was there."""
    removed = []
    for name in _OF_THE_TRAINING:
        path = directory / name
        if path.is_dir():
            shutil.rmtree(path)
        elif path.exists():
            path.unlink()
        else:
            continue
        removed.append(name)
    return removed


def _recorded(directory: Path) -> dict[str, Any]:
    path = directory / IDENTITY
    if not path.is_file():
        raise MismatchError(
            f"{directory / 'checkpoints'} holds checkpoints, but {path} is not there to say what they were trained "
            f"on. Put it back, give this recipe another name, or add --fresh to start its training over"
        )
    value: dict[str, Any] = read_json(path)
    return value


def _refuse(directory: Path, what: str, changes: list[str]) -> None:
    raise MismatchError(
        f"{directory} holds checkpoints of {what}:\n  "
        + "\n  ".join(changes)
        + f"\nWhat is in the run was left as it is. To train on this as well, give it another name "
        f"(--set name={directory.name}-2); to replace that training, add --fresh"
    )
