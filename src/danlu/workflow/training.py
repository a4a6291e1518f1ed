"""Is the training in this directory the one that the recipe asks for? If not, refuse before anything is touched.

Guarantees: checkpoints are never continued with other settings or other text, never overwritten by another recipe,
and never started over in silence. `training.json` is written before the first step: what decided the training.
Costs: one small JSON file. No torch.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from danlu.checkpoint.manifest import verify
from danlu.checkpoint.steps import list_steps, step_path
from danlu.config import differences
from danlu.corpus.settings import decisive
from danlu.errors import DamagedError, MismatchError
from danlu.files import read_json, write_json
from danlu.mixture.stages import settings_until
from danlu.recipe import Recipe, with_defaults
from danlu.tokens.settings import PackingSettings
from danlu.train.identity import identity, stages_of
from danlu.train.settings import StageTrain

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
    "mixture.html",
    "export",
    "report.html",
    IDENTITY,
)
"""What --fresh removes: all that follows from the text but is not made of it. IDENTITY goes last, as a guard."""


def decisive_settings(recipe: Recipe) -> dict[str, Any]:
    """The parts of the recipe that decide the weights: text, tokenizer, data order, network, optimiser, length."""
    settings = identity(recipe, (), "", {}, "")
    for name in ("data", "stages", "asked"):
        settings.pop(name)
    settings["train"].pop("total_tokens")
    whole = recipe.model_dump(mode="json", exclude_none=True)
    lengths = ("tokens", "steps", "minutes", "sequence_length")
    train = {**settings["train"], **{key: whole["train"][key] for key in lengths if key in whole["train"]}}
    sections = {key: whole[key] for key in ("tokenizer", "tokens", "mixture")}
    if whole["stage"]:
        sections["stage"] = whole["stage"]
    return {**settings, **sections, "train": train, "corpus": decisive(recipe.corpus)}


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


def record_training(
    recipe: Recipe,
    directory: Path,
    inputs: Mapping[str, str],
    domains: Mapping[str, Mapping[str, str]],
    total_tokens: int,
) -> None:
    """Before the first step of a command: what this training is made of, once it is not another one.

    `inputs` has one digest a stage before it, `domains` one for each domain of a stage.
    """
    refuse_another_training(recipe, directory)
    value = {
        "settings": decisive_settings(recipe),
        "inputs": dict(inputs),
        "domains": {name: dict(digests) for name, digests in domains.items()},
        "total_tokens": total_tokens,
    }
    write_json(directory / IDENTITY, value)


def recorded_tokens(directory: Path) -> int | None:
    """The length that a training with checkpoints has fixed; None if there is none yet."""
    return int(_recorded(directory)["total_tokens"]) if has_checkpoints(directory) else None


def refuse_another_training(recipe: Recipe, directory: Path) -> None:
    """Raises MismatchError, listing what differs, if there are checkpoints of other settings.

    What comes after the newest checkpoint may change by `[[stage]]`, and a source of a new domain may be added.
    """
    if not has_checkpoints(directory):
        return
    now = decisive_settings(recipe)
    recorded = _recorded(directory)
    saved = with_defaults(recorded["settings"], now)
    changed = differences(saved, now)
    if not changed:
        return
    steps = max(list_steps(directory / "checkpoints")[-1], 1)
    batch_tokens = recipe.train.batch_tokens
    fixed = differences(_without_stages(saved, saved), _without_stages(now, saved))
    what = "another recipe; what differs (saved -> now)"
    if fixed:
        _refuse(directory, what, fixed)
    total = recorded["total_tokens"] // batch_tokens
    then, later = (
        settings_until(stages_of(settings), total, steps, batch_tokens) for settings in (saved, now)
    )
    if trained := _differences_by_step(then, later):
        advice = (
            f"\n{steps:,} steps are trained. What follows may be changed by [[stage]] tables, of which the first has "
            f"what was until now and until_tokens = {steps * batch_tokens} or more"
        )
        _refuse(directory, what, trained, advice)


def _differences_by_step(then: Sequence[tuple[int, Any]], later: Sequence[tuple[int, Any]]) -> list[str]:
    """What differs between two courses of (steps, settings), with the steps in which it does."""
    ends = sorted(
        {sum(steps for steps, _ in course[: n + 1]) for course in (then, later) for n in range(len(course))}
    )
    lines, first = [], 0
    for end in ends:
        old, new = (_at(course, first) for course in (then, later))
        lines += [f"steps {first + 1:,} to {end:,}: {line}" for line in differences(old, new)]
        first = end
    return lines


def _at(course: Sequence[tuple[int, Any]], step: int) -> Any:
    for steps, settings in course:
        if step < steps:
            return settings
        step -= steps
    return {}


def refuse_other_data(
    directory: Path, stage: str, outputs: str, domains: Mapping[str, str], why: str
) -> None:
    """Raises MismatchError if a redone stage came out different from what the checkpoints were trained on.

    Domains may have been added; those that were there must be the same.
    """
    if not has_checkpoints(directory):
        return
    recorded = _recorded(directory)
    if recorded["inputs"].get(stage) == outputs:
        return
    before = recorded.get("domains", {}).get(stage, {})
    if not before or len(domains) == len(before) or any(domains.get(name) != before[name] for name in before):
        _refuse(directory, f"another {stage}; it was redone and came out different", [why])


def _without_stages(settings: Mapping[str, Any], saved: Mapping[str, Any]) -> dict[str, Any]:
    """Settings but for what stages may change, and for what is of domains that `saved` has none of."""
    rest = {key: value for key, value in settings.items() if key not in ("mixture", "stage")}
    sources = [source["domain"] for source in saved["corpus"]["source"]]
    known = {*sources, *saved["tokens"]["megatron"]}
    tokens = {
        key: value for key, value in settings["tokens"].items() if key not in PackingSettings.model_fields
    }
    for key in ("join", "megatron"):
        tokens[key] = {domain: value for domain, value in tokens[key].items() if domain in known}
    return {
        **rest,
        "tokens": tokens,
        "train": {
            key: value for key, value in settings["train"].items() if key not in StageTrain.model_fields
        },
        "corpus": {
            **settings["corpus"],
            "source": [source for source in settings["corpus"]["source"] if source["domain"] in known],
        },
        "slice": {name: cut for name, cut in settings["mixture"]["slice"].items() if cut["of"] in known},
    }


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


def _refuse(directory: Path, what: str, changes: list[str], advice: str = "") -> None:
    raise MismatchError(
        f"{directory} holds checkpoints of {what}:\n  "
        + "\n  ".join(changes)
        + f"\nWhat is in the run was left as it is. To train on this as well, give it another name "
        f"(--set name={directory.name}-2); to replace that training, add --fresh{advice}"
    )
