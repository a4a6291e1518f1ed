"""The whole recipe: composes the settings of every folder, reads TOML, applies --set, refuses what is not built yet.

Precedence: defaults < recipe < --set. Costs: pydantic only; never torch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, Field, TypeAdapter, ValidationError, model_validator

from danlu.checkpoint.settings import CheckpointSettings
from danlu.config import Origin, Section, apply_settings, find_values, refuse, refuse_not_yet, spell
from danlu.corpus.settings import CorpusSettings
from danlu.errors import RecipeError
from danlu.evaluate.settings import EvaluateSettings
from danlu.mixture.settings import WAYS, MixtureSettings, check_slices
from danlu.model.settings import ModelSettings
from danlu.monitor.settings import MonitorSettings
from danlu.objective.settings import ObjectiveSettings
from danlu.optim.settings import LossSettings, OptimizerSettings, ScheduleSettings
from danlu.plan.settings import PlanSettings
from danlu.precision.settings import PrecisionSettings
from danlu.tokenizer.settings import TokenizerSettings
from danlu.tokens.settings import PackingSettings, TokensSettings
from danlu.toml import parse_toml, read_text, write_toml
from danlu.train.settings import StageSettings, StageTrain, TrainSettings

NOT_YET = (
    "stage.objective",
    "stage.model",
    "parallel",
    "continue",
    "guard",
    "mixture.file",
    "mixture.online",
    "stage.mixture.file",
    "stage.mixture.online",
    "objective.prefix",
    "objective.fim",
    "objective.mlm",
    "objective.span",
    "objective.denoise",
    "objective.ul2",
    "model.preset",
    "model.dropout",
    "model.parametrization",
    "model.rope.kind",
    "model.rope.factor",
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

WORDS_NOT_YET = {
    "model.attention": ("flex",),
    "precision.kind": ("bf16_pure", "fp16", "fp8"),
    "optimizer.kind": ("adam", "adafactor", "lion", "sgd"),
    "schedule.kind": ("inverse_sqrt",),
}  # fmt: skip
"""Planned values of keys that exist, refused in the same way."""


_LENGTHS = ("tokens", "steps", "minutes")
_OF_A_STAGE: dict[str, type[Section]] = {"tokens": PackingSettings, "train": StageTrain}
"""What of these sections a stage may change."""


class Recipe(Section):
    """Everything that decides a run."""

    name: str = Field(pattern=r"^\w[\w.\-]*$")
    """The run directory is runs/<name>."""
    seed: int = Field(default=1, ge=0, lt=2**63)
    corpus: CorpusSettings
    tokenizer: TokenizerSettings = TokenizerSettings()
    tokens: TokensSettings = TokensSettings()
    mixture: MixtureSettings = MixtureSettings()
    stage: list[StageSettings] = Field(default_factory=list)
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

    @model_validator(mode="before")
    @classmethod
    def _stages_in_full(cls, tables: Any) -> Any:
        """Every stage with what it does not name from the sections above it."""
        stages = tables.get("stage") if isinstance(tables, dict) else None
        if not isinstance(stages, list) or not all(isinstance(stage, dict) for stage in stages):
            return tables
        return {**tables, "stage": [_stage_in_full(stage, tables) for stage in stages]}


def parse(
    tables: dict[str, Any], path: Path | None = None, text: str = "", settings: Sequence[str] = ()
) -> Recipe:
    """Validates tables; an error names the file and line, or the `--set`, and the key."""
    origin = Origin(path, text, tuple(settings))
    for name in NOT_YET:
        for key, _ in find_values(tables, name.split(".")):
            raise RecipeError(f"{origin.place(key)}{spell(key)} is not supported yet; remove it")
    refuse_not_yet(tables, Recipe, WORDS_NOT_YET, origin)
    try:
        recipe = Recipe.model_validate(tables)
    except ValidationError as error:
        raise refuse(error, Recipe, origin) from None
    _check_across(recipe, origin)
    return recipe


def load(path: Path, settings: Sequence[str] = ()) -> Recipe:
    """Reads a recipe file and applies `section.key=value` settings over it.

    A length of the training that is set replaces the recipe's, in whichever of its three ways that one is given.
    """
    text = read_text(path)
    tables = parse_toml(text, path)
    given = {setting.partition("=")[0].strip().removeprefix("train.") for setting in settings}
    if lengths := given & set(_LENGTHS):
        for key in set(_LENGTHS) - lengths:
            _table(tables, "train").pop(key, None)
        if "minutes" not in lengths:
            for key in ("min_tokens", "max_tokens"):
                _table(tables, "plan").pop(key, None)
    return parse(apply_settings(tables, settings), path, text, settings)


def _stage_in_full(stage: dict[str, Any], tables: dict[str, Any]) -> dict[str, Any]:
    full = dict(stage)
    for section in ("mixture", "tokens", "train"):
        own, base = stage.get(section, {}), _table(tables, section)
        if not isinstance(own, dict):
            continue  # refused by its type
        if section in _OF_A_STAGE:
            base = {key: base[key] for key in _OF_A_STAGE[section].model_fields if key in base}
        if section == "mixture" and any(way in own for way in WAYS):
            base = {key: value for key, value in base.items() if key not in WAYS}
        full[section] = {**base, **own}
    return full


def _table(tables: dict[str, Any], name: str) -> dict[str, Any]:
    table = tables.get(name, {})
    return table if isinstance(table, dict) else {}


def with_defaults(saved: Mapping[str, Any], now: Mapping[str, Any], section: type[BaseModel] = Recipe) -> Any:
    """Settings saved by an earlier danlu, with the defaults of those keys of `now` that did not exist then.

    `section` declares the keys; what it does not know is left as it is. A key that is older than the saved settings is
    never missing in them, because they are saved resolved.
    """
    filled = dict(saved)
    for name in now:
        field = section.model_fields.get(name)
        if field is None:
            continue
        annotation: Any = field.annotation
        if name in saved:
            filled[name] = _with_defaults(saved[name], now[name], _sections(annotation))
        elif (value := field.get_default(call_default_factory=True)) is not None and not field.is_required():
            filled[name] = TypeAdapter(annotation).dump_python(value, mode="json", exclude_none=True)
    return filled


def _with_defaults(saved: Any, now: Any, sections: Sequence[type[BaseModel]]) -> Any:
    """The same for the value of a key: a table, an array of tables, or anything else."""
    if isinstance(saved, list) and isinstance(now, list) and len(saved) == len(now):
        return [_with_defaults(*pair, sections) for pair in zip(saved, now, strict=True)]
    if isinstance(saved, Mapping) and isinstance(now, Mapping):
        use = [section for section in sections if _tag(section) in (None, saved.get("use"))]
        return with_defaults(saved, now, use[0]) if use else saved
    return saved


def _tag(section: type[BaseModel]) -> Any:
    """The value of `use` that chooses this section among several."""
    use = section.model_fields.get("use")
    return use.default if use else None


def _sections(annotation: Any) -> list[type[BaseModel]]:
    """The sections that a key's value may hold."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [section for part in get_args(annotation) for section in _sections(part)]


def _check_across(recipe: Recipe, origin: Origin) -> None:
    """What no single section can see."""
    sources = {item.domain for item in recipe.corpus.source}
    _check_tokens(recipe, sources, origin)
    _check_mixture(recipe.mixture, recipe.tokens, sources, ["mixture"], origin)
    for number, stage in enumerate(recipe.stage):
        _check_stage(recipe, stage, ["stage", number], origin)
        _check_mixture(stage.mixture, recipe.tokens, sources, ["stage", number, "mixture"], origin)
    if recipe.plan != PlanSettings() and recipe.train.minutes is None:
        where = origin.place(["plan"])
        raise RecipeError(f"{where}plan.min_tokens and plan.max_tokens have no effect without train.minutes")


def _check_tokens(recipe: Recipe, sources: set[str], origin: Origin) -> None:
    """Whether what is joined or comes as ids fits the sources and the tokenizer."""
    for domain in sorted(recipe.tokens.join.keys() - sources):
        where = origin.place(["tokens", "join", domain])
        raise RecipeError(
            f"{where}tokens.join: {domain!r} is no domain of [[corpus.source]]; domains: {', '.join(sorted(sources))}"
        )
    for domain in sorted(recipe.tokens.megatron):
        where = origin.place(["tokens", "megatron", domain])
        if domain in {*sources, *recipe.mixture.slice}:
            raise RecipeError(
                f"{where}tokens.megatron: {domain!r} is a domain of its own; give the dataset another name"
            )
        if not recipe.tokenizer.path:
            raise RecipeError(
                f"{where}tokens.megatron: ids mean nothing without the tokenizer that made them; name its "
                f"tokenizer.json as tokenizer.path"
            )


def _check_mixture(
    mixture: MixtureSettings, tokens: TokensSettings, sources: set[str], key: list[str | int], origin: Origin
) -> None:
    """Whether its names are those of the text."""
    asked = [(f"slice.{name}.of", part.of) for name, part in mixture.slice.items()]
    asked += [("order_by", domain) for domain in mixture.order_by]
    for name, domain in asked:
        if domain in {*tokens.join, *tokens.megatron}:
            how = "joined (tokens.join)" if domain in tokens.join else "of ids (tokens.megatron)"
            raise RecipeError(
                f"{origin.place([*key, *name.split('.')])}{spell([*key, name])}: the documents of {domain!r} are {how} "
                f"and the corpus has measured none of them; slice and order other domains"
            )
    try:
        check_slices(mixture, sources)
    except ValueError as error:
        said = str(error).replace("mixture.", f"{spell(key)}.", 1)
        raise RecipeError(f"{origin.place(key)}{said}") from None
    domains, weights = {*sources, *tokens.megatron, *mixture.slice}, set(mixture.weights)
    if weights and weights != domains:
        wrong = [*sorted(weights - domains), *sorted(domains - weights)][0]
        what = "is no domain of [[corpus.source]]" if wrong in weights else "has no weight"
        where = origin.place([*key, "weights", wrong])
        name = spell([*key, "weights"])
        raise RecipeError(f"{where}{name}: {wrong!r} {what}; domains: {', '.join(sorted(domains))}")


def _check_stage(recipe: Recipe, stage: StageSettings, key: list[str | int], origin: Origin) -> None:
    """Whether a stage fits what holds for the whole run."""
    if stage.mixture.slice != recipe.mixture.slice:
        where = origin.place([*key, "mixture", "slice"])
        raise RecipeError(
            f"{where}{spell(key)}.mixture.slice: slices are of the whole run; write them in [mixture]"
        )
    length, batch = stage.train.sequence_length, recipe.train.batch_tokens
    if batch % length:
        lengths = [recipe.train.sequence_length, *(other.train.sequence_length for other in recipe.stage)]
        near = max(round(batch / math.lcm(*lengths)), 1) * math.lcm(*lengths)
        raise RecipeError(
            f"{origin.place([*key, 'train', 'sequence_length'])}train.batch_tokens = {batch} is not a multiple of the "
            f"stage's sequence_length = {length}; a multiple of all lengths: {near}"
        )


def dump_toml(recipe: Recipe) -> str:
    """The resolved recipe as TOML, every key written out, so that a run can be read without the defaults."""
    return write_toml(recipe.model_dump(mode="json", exclude_none=True))
