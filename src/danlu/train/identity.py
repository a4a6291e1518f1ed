"""What a training is: its stages, and the settings and data that decide every weight.

A checkpoint is continued only by a run with the same identity; what only decides when things are logged, saved or
measured, or how a batch is cut into micro-batches, may change on the way; so may stages that have not begun.
Without `[[stage]]` a run is one stage. No torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from danlu.checkpoint.manifest import STATE
from danlu.checkpoint.steps import newest_good, step_path
from danlu.config import differences
from danlu.errors import MismatchError
from danlu.files import digest, read_json
from danlu.mixture.settings import MixtureSettings
from danlu.mixture.stages import PlannedStage, WantedStage, cut_stages, plan_stages, settings_until
from danlu.recipe import Recipe, with_defaults
from danlu.tokens.settings import PackingSettings
from danlu.train.settings import StageSettings, StageTrain

_FREE = {
    "name": (),
    "corpus": (),
    "tokenizer": (),
    "tokens": (),
    "mixture": (),
    "stage": (),
    "checkpoint": (),
    "evaluate": (),
    "monitor": (),
    "plan": (),
    "train": ("micro_batch", "device", "compile", "sequence_length"),
}
"""Sections (or keys of one) that do not decide the weights, or do so only through the token shards and the stages."""


def identity(
    recipe: Recipe, stages: Sequence[PlannedStage], asked: str, data: Mapping[str, str], tokenizer: str
) -> dict[str, Any]:
    """The settings that decide the weights, the stages, and the fingerprints of each domain and of the tokenizer."""
    settings = recipe.model_dump(mode="json", exclude_none=True)
    for section, keys in _FREE.items():
        if not keys:
            settings.pop(section, None)
        for key in keys:
            settings[section].pop(key, None)
    for length in ("tokens", "steps", "minutes"):
        settings["train"].pop(length, None)
    settings["train"]["total_tokens"] = sum(stage.steps for stage in stages) * recipe.train.batch_tokens
    rows = [asdict(stage) for stage in stages]
    return {**settings, "stages": rows, "asked": asked, "data": dict(data), "tokenizer": tokenizer}


def require_same(saved: dict[str, Any], now: dict[str, Any], run: Path, step: int) -> None:
    """Refuses to continue a checkpoint of another training, listing what differs.

    Of the stages, and of the text, only what the first `step` steps read has to be the same.
    """
    before, after = (_up_to(value, step) for value in (saved, now))
    changed = differences(with_defaults(before, after), after)
    if changed:
        raise MismatchError(
            f"{run} holds checkpoints of another recipe; what differs (saved -> now):\n  "
            + "\n  ".join(changed)
            + "\nGive this recipe another name, or add --fresh to start its training over"
        )


def wanted_stages(recipe: Recipe) -> list[WantedStage]:
    """The recipe's stages in order, at least one."""
    return stages_of(recipe.model_dump(mode="json", exclude_none=True))


def stages_of(settings: Mapping[str, Any]) -> list[WantedStage]:
    """The same from the recipe's sections as plain values, of this recipe or of one that was saved."""
    return [
        WantedStage(
            stage.train.sequence_length,
            stage.tokens.packing,
            stage.tokens.document_mask,
            stage.tokens.reset_positions,
            stage.mixture,
            stage.until_tokens,
        )
        for stage in _settings(settings)
    ]


@dataclass(frozen=True)
class Course:
    """The stages of a run, and a digest of what was asked for: the recipe's stages, the text, the length.

    As long as the same is asked for, a run keeps its stages as they were planned first.
    """

    stages: tuple[PlannedStage, ...]
    asked: str
    done: int = 0
    """Steps that are trained."""
    was: tuple[PlannedStage, ...] = ()
    """The stages as they were planned before something else was asked for; empty where nothing else was."""


def chart_course(
    recipe: Recipe, domain_tokens: Mapping[str, int], total_steps: int, checkpoints: Path
) -> Course:
    """The stages of the recipe; of the newest checkpoint those that are trained, or all where the same is asked."""
    wanted, batch_tokens = wanted_stages(recipe), recipe.train.batch_tokens
    asked = digest([settings_until(wanted, total_steps, total_steps, batch_tokens), dict(domain_tokens)])
    before = _trained(checkpoints)
    if before is None:
        return Course(plan_stages(wanted, domain_tokens, total_steps, batch_tokens), asked)
    if before.asked == asked:
        return before
    history = cut_stages(before.stages, before.done)
    stages = plan_stages(wanted, domain_tokens, total_steps, batch_tokens, history)
    return Course(stages, asked, before.done, before.stages)


def _trained(checkpoints: Path) -> Course | None:
    newest = newest_good(checkpoints)
    if newest is None:
        return None
    identity = read_json(step_path(checkpoints, newest.step) / STATE)["identity"]
    return Course(read_stages(identity), identity["asked"], newest.step)


def read_stages(saved: Mapping[str, Any]) -> tuple[PlannedStage, ...]:
    """The stages of a saved identity. Raises MismatchError for one that was saved before there were any."""
    if "stages" not in saved or "asked" not in saved:
        raise MismatchError(
            "the checkpoint is of an earlier danlu, which knew no stages: go on with that version, or start the "
            "training over with --fresh"
        )
    return TypeAdapter(tuple[PlannedStage, ...]).validate_python(tuple(saved["stages"]))


def _settings(settings: Mapping[str, Any]) -> list[StageSettings]:
    if stages := settings.get("stage"):
        return [StageSettings.model_validate(stage) for stage in stages]
    whole = {
        name: {key: value for key, value in settings[name].items() if key in section.model_fields}
        for name, section in (
            ("mixture", MixtureSettings),
            ("tokens", PackingSettings),
            ("train", StageTrain),
        )
    }
    return [StageSettings.model_validate(whole)]


def _up_to(identity: dict[str, Any], step: int) -> dict[str, Any]:
    """What was decided up to a step, the stages by their numbers."""
    stages = cut_stages(read_stages(identity), step)
    domains = {domain for stage in stages for domain in stage.weights}
    rows = {str(number): asdict(stage) for number, stage in enumerate(stages, 1)}
    data = {name: value for name, value in identity["data"].items() if name in domains}
    return {**identity, "stages": rows, "data": data, "asked": ""}
