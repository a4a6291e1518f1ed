"""What makes two trainings the same one: the settings and data that decide every weight.

A checkpoint is continued only by a run with the same identity; what only decides when things are logged, saved or
measured, or how a batch is cut into micro-batches, may change on the way. No torch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from danlu.config import differences
from danlu.errors import MismatchError
from danlu.recipe import Recipe, with_defaults

_FREE = {
    "name": (),
    "corpus": (),
    "tokenizer": (),
    "checkpoint": (),
    "evaluate": (),
    "monitor": (),
    "plan": (),
    "train": ("micro_batch", "device", "compile"),
}
"""Sections (or keys of one) that do not decide the weights, or do so only through the token shards."""


def identity(recipe: Recipe, total_tokens: int, data: str, tokenizer: str) -> dict[str, Any]:
    """The settings that decide the weights, with the fingerprints of the shards and of the tokenizer."""
    settings = recipe.model_dump(mode="json", exclude_none=True)
    for section, keys in _FREE.items():
        if not keys:
            settings.pop(section, None)
        for key in keys:
            settings[section].pop(key, None)
    for length in ("tokens", "steps", "minutes"):
        settings["train"].pop(length, None)
    settings["train"]["total_tokens"] = total_tokens
    return {**settings, "data": data, "tokenizer": tokenizer}


def require_same(saved: dict[str, Any], now: dict[str, Any], run: Path) -> None:
    """Refuses to continue a checkpoint of another training, listing what differs."""
    changed = differences(with_defaults(saved, now), now)
    if changed:
        raise MismatchError(
            f"{run} holds checkpoints of another recipe; what differs (saved -> now):\n  "
            + "\n  ".join(changed)
            + "\nGive this recipe another name, or add --fresh to start its training over"
        )
