"""The whole recipe: composes the settings of every folder, reads TOML, applies --set, refuses what is not built yet.

Precedence: defaults < recipe < --set. Costs: pydantic only; never torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from danlu.checkpoint.settings import CheckpointSettings
from danlu.config import Section, apply_settings, find_line, read_toml, refuse
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
from danlu.train.settings import TrainSettings

NOT_YET = ("stage", "parallel", "continue", "guard")
"""Sections of the planned recipe whose machinery does not exist yet: refused by name, never ignored."""


class Recipe(Section):
    """Everything that decides a run."""

    name: str = Field(pattern=r"^[\w.\-]+$")
    """The run directory is runs/<name>."""
    seed: int = Field(default=1, ge=0)
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


def parse(tables: dict[str, Any], path: Path | None = None, text: str = "") -> Recipe:
    """Validates tables; an error names the file, line and key."""
    for section in NOT_YET:
        if section in tables:
            line = find_line(text, [section])
            where = f"{path}, line {line}: " if path and line else f"{path}: " if path else ""
            raise RecipeError(f"{where}[{section}] is not supported yet; remove it")
    try:
        recipe = Recipe.model_validate(tables)
    except ValidationError as error:
        raise refuse(error, Recipe, path, text) from None
    _check_across(recipe)
    return recipe


def load(path: Path, settings: Sequence[str] = ()) -> Recipe:
    """Reads a recipe file and applies `section.key=value` settings over it."""
    tables = apply_settings(read_toml(path), settings)
    return parse(tables, path, path.read_text(encoding="utf-8"))


def _check_across(recipe: Recipe) -> None:
    """What no single section can see."""
    domains = {source.domain for source in recipe.corpus.source}
    weights = set(recipe.mixture.weights)
    if weights and weights != domains:
        wrong = sorted(weights ^ domains)[0]
        what = "is no domain of [[corpus.source]]" if wrong in weights else "has no weight"
        raise RecipeError(f"mixture.weights: {wrong!r} {what}; domains: {', '.join(sorted(domains))}")
    if recipe.plan != PlanSettings() and recipe.train.minutes is None:
        raise RecipeError("[plan] min_tokens and max_tokens have no effect without train.minutes")


def dump_toml(recipe: Recipe) -> str:
    """The resolved recipe as TOML, every key written out, so that a run can be read without the defaults."""
    return "\n".join(_toml_lines(recipe.model_dump(mode="json", exclude_none=True), "")) + "\n"


def _toml_lines(table: dict[str, Any], prefix: str) -> list[str]:
    lines, later = [], []
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            for item in value:
                later += ["", f"[[{name}]]", *_toml_lines(item, f"{name}.")]
        elif isinstance(value, dict) and value:
            later += ["", f"[{name}]", *_toml_lines(value, f"{name}.")]
        else:
            lines.append(f"{_toml_key(key)} = {_toml_value(value)}")
    return lines + later


def _toml_key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else _toml_value(key)


def _toml_value(value: Any) -> str:
    import json

    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{_toml_key(k)} = {_toml_value(v)}" for k, v in value.items()) + " }"
            if value
            else "{}"
        )
    return "[" + ", ".join(_toml_value(item) for item in value) + "]"
