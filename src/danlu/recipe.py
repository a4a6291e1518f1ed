"""The whole recipe: composes the settings of every folder, reads TOML, applies --set, refuses what is not built yet.

Precedence: defaults < recipe < --set. Costs: pydantic only; never torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from danlu.checkpoint.settings import CheckpointSettings
from danlu.config import Origin, Section, apply_settings, refuse, spell
from danlu.corpus.settings import CorpusSettings
from danlu.errors import RecipeError
from danlu.evaluate.settings import EvaluateSettings
from danlu.model.settings import ModelSettings
from danlu.monitor.settings import MonitorSettings
from danlu.objective.settings import ObjectiveSettings
from danlu.optim.settings import LossSettings, OptimizerSettings, ScheduleSettings
from danlu.plan.settings import PlanSettings
from danlu.precision.settings import PrecisionSettings
from danlu.tokenizer.settings import TokenizerSettings
from danlu.tokens.settings import MixtureSettings, TokensSettings
from danlu.toml import parse_toml, read_text, write_toml
from danlu.train.settings import TrainSettings

NOT_YET = (
    "stage",
    "parallel",
    "continue",
    "guard",
    "corpus.engine",
    "corpus.workers",
    "corpus.words",
    "corpus.source.language",
    "corpus.source.template",
    "mixture.method",
    "mixture.file",
    "mixture.online",
    "mixture.slice",
    "objective.fim",
    "model.preset",
    "model.dropout",
    "model.parametrization",
    "train.recompute",
    "optimizer.state",
    "schedule.batch_ramp",
    "checkpoint.replicas",
    "evaluate.tasks",
    "monitor.sinks",
    "plan.budget",
    "plan.price_per_gpu_hour",
)
"""Planned sections and keys whose machinery does not exist yet: refused by name, never ignored."""


class Recipe(Section):
    """Everything that decides a run."""

    name: str = Field(pattern=r"^\w[\w.\-]*$")
    """The run directory is runs/<name>."""
    seed: int = Field(default=1, ge=0, lt=2**63)
    corpus: CorpusSettings
    tokenizer: TokenizerSettings = TokenizerSettings()
    tokens: TokensSettings = TokensSettings()
    mixture: MixtureSettings = MixtureSettings()
    objective: ObjectiveSettings = ObjectiveSettings()
    model: ModelSettings = ModelSettings()
    train: TrainSettings
    precision: PrecisionSettings = PrecisionSettings()
    optimizer: OptimizerSettings = OptimizerSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    loss: LossSettings = LossSettings()
    checkpoint: CheckpointSettings = CheckpointSettings()
    evaluate: EvaluateSettings = EvaluateSettings()
    monitor: MonitorSettings = MonitorSettings()
    plan: PlanSettings = PlanSettings()


def parse(
    tables: dict[str, Any], path: Path | None = None, text: str = "", settings: Sequence[str] = ()
) -> Recipe:
    """Validates tables; an error names the file and line, or the `--set`, and the key."""
    origin = Origin(path, text, tuple(settings))
    for name in NOT_YET:
        key = _find(tables, name.split("."))
        if key:
            raise RecipeError(f"{origin.place(key)}{spell(key)} is not supported yet; remove it")
    try:
        recipe = Recipe.model_validate(tables)
    except ValidationError as error:
        raise refuse(error, Recipe, origin) from None
    _check_across(recipe, origin)
    return recipe


def load(path: Path, settings: Sequence[str] = ()) -> Recipe:
    """Reads a recipe file and applies `section.key=value` settings over it."""
    text = read_text(path)
    return parse(apply_settings(parse_toml(text, path), settings), path, text, settings)


def _find(value: Any, names: Sequence[str]) -> list[str | int]:
    """The path of a key in nested tables, through the first array element that has it; empty where it is not."""
    if isinstance(value, list):
        tries = (([number], _find(item, names)) for number, item in enumerate(value))
        return next(([*head, *rest] for head, rest in tries if rest), [])
    if not isinstance(value, dict) or names[0] not in value:
        return []
    rest = _find(value[names[0]], names[1:]) if names[1:] else []
    return [names[0], *rest] if rest or not names[1:] else []


def _check_across(recipe: Recipe, origin: Origin) -> None:
    """What no single section can see."""
    domains = {item.domain for item in recipe.corpus.source}
    weights = set(recipe.mixture.weights)
    if weights and weights != domains:
        wrong = [*sorted(weights - domains), *sorted(domains - weights)][0]
        what = "is no domain of [[corpus.source]]" if wrong in weights else "has no weight"
        where = origin.place(["mixture", "weights", wrong])
        raise RecipeError(f"{where}mixture.weights: {wrong!r} {what}; domains: {', '.join(sorted(domains))}")
    if recipe.plan != PlanSettings() and recipe.train.minutes is None:
        where = origin.place(["plan"])
        raise RecipeError(f"{where}plan.min_tokens and plan.max_tokens have no effect without train.minutes")


def dump_toml(recipe: Recipe) -> str:
    """The resolved recipe as TOML, every key written out, so that a run can be read without the defaults."""
    return write_toml(recipe.model_dump(mode="json", exclude_none=True))
