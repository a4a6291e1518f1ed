"""The stages of a training: at which step the mixture, the length of a sample or the packing changes.

Decides: a stage ends at the last whole step that its until_tokens holds; the last one goes to the end. Epochs of a
domain are counted over all stages, so that max_epochs holds for the whole run. What was trained on already stays as it
was: a plan that is made again takes the stages up to there from the history, and only the rest from the recipe.
Guarantees: steps add up to the run; no stage is empty. Costs: nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from danlu.errors import RecipeError
from danlu.log import human
from danlu.mixture.settings import MixtureSettings
from danlu.mixture.weights import resolve_weights


@dataclass(frozen=True, slots=True)
class WantedStage:
    """A stage as the recipe asks for it; `until_tokens` None: to the end of the run."""

    sequence_length: int
    packing: str
    document_mask: bool
    reset_positions: bool
    mixture: MixtureSettings
    until_tokens: int | None = None

    def settings(self) -> dict[str, object]:
        """What decides its samples, to be compared: a weight of 0 says the same as no weight.

        Slices are left out: they are of the whole run.
        """
        mixture = self.mixture.model_dump(mode="json", exclude_none=True, exclude={"slice"})
        mixture["weights"] = {name: share for name, share in self.mixture.weights.items() if share}
        rest = {name: getattr(self, name) for name in ("packing", "document_mask", "reset_positions")}
        return {"mixture": mixture, "tokens": rest, "train": {"sequence_length": self.sequence_length}}


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """One stage, resolved: how many global steps, how samples are made, and which share of the tokens each domain has.

    A domain without a weight is not read in the stage. `order_by`: domain -> the attribute that it is sorted by, "-"
    before it where it falls; a domain that is not named is read in hashed order.
    """

    steps: int
    sequence_length: int
    packing: str
    document_mask: bool
    reset_positions: bool
    weights: dict[str, float]
    order_by: dict[str, str] = field(default_factory=dict)


def plan_stages(
    wanted: Sequence[WantedStage],
    domain_tokens: Mapping[str, int],
    total_steps: int,
    batch_tokens: int,
    history: Sequence[PlannedStage] = (),
) -> tuple[PlannedStage, ...]:
    """The stages of a run of `total_steps`; those of `history`, which were trained, come first and as they were.

    Raises RecipeError for stages that do not rise, that never begin, or that end before the run does.
    """
    stages = list(history)
    done = sum(stage.steps for stage in history)
    seen: Counter[str] = Counter()
    for trained in history:
        _count(seen, trained, batch_tokens)
    for stage, first, stop in _bounds(wanted, total_steps, batch_tokens):
        first = max(first, done)
        if first >= stop:
            continue
        planned = _resolved(stage, stop - first, domain_tokens, batch_tokens, seen)
        if stages and replace(planned, steps=stages[-1].steps) == stages[-1]:
            stages[-1] = replace(planned, steps=stages[-1].steps + planned.steps)
        else:
            stages.append(planned)
        _count(seen, planned, batch_tokens)
    return tuple(stages)


def describe_caps(
    wanted: Sequence[WantedStage],
    planned: Sequence[PlannedStage],
    domain_tokens: Mapping[str, int],
    batch_tokens: int,
    done: int = 0,
) -> list[str]:
    """A sentence for each domain that max_epochs holds below the share that the recipe asks for.

    Stages that end within the first `done` steps are past, and not spoken of.
    """
    said = []
    total_steps = sum(stage.steps for stage in planned)
    for number, (stage, first, stop) in enumerate(_bounds(wanted, total_steps, batch_tokens), 1):
        if stop <= done:
            continue
        given = cut_stages(planned, max(first, done) + 1)[-1].weights
        free = stage.mixture.model_copy(update={"max_epochs": math.inf})
        where = f"stage {number}: " if len(wanted) > 1 else ""
        for name, share in resolve_weights(free, domain_tokens, batch_tokens).items():
            if given.get(name, 0.0) < share * (1 - 1e-9):
                said.append(
                    f"{where}{name} gets {given.get(name, 0.0):.1%} instead of {share:.1%}: more would be above "
                    f"max_epochs = {stage.mixture.max_epochs:g}; the others get the rest"
                )
    return said


def describe_change(was: Sequence[PlannedStage], now: Sequence[PlannedStage]) -> str:
    """From which step on other shares are read than were planned, and which; "" where none are."""
    for step in sorted({0, *_ends(was), *_ends(now)})[:-1]:
        old, new = (cut_stages(stages, step + 1)[-1] for stages in (was, now))
        if replace(old, steps=1) != replace(new, steps=1):
            shares = ", ".join(f"{name} {weight:.1%}" for name, weight in sorted(new.weights.items()))
            return (
                f"from step {step + 1:,} on: {shares}; sequences of {new.sequence_length:,} by {new.packing}"
            )
    return ""


def _ends(stages: Sequence[PlannedStage]) -> list[int]:
    """The steps after which each stage is over."""
    return list(accumulate(stage.steps for stage in stages))


def cut_stages(stages: Sequence[PlannedStage], steps: int) -> tuple[PlannedStage, ...]:
    """The first so many steps of the stages."""
    kept = []
    for stage in stages:
        if steps > 0:
            kept.append(replace(stage, steps=min(steps, stage.steps)))
        steps -= stage.steps
    return tuple(kept)


def settings_until(
    wanted: Sequence[WantedStage], total_steps: int, steps: int, batch_tokens: int
) -> list[tuple[int, dict[str, object]]]:
    """(steps, settings) of what the recipe asks for in the first `steps`; equal neighbours are one."""
    found: list[tuple[int, dict[str, object]]] = []
    for stage, first, stop in _bounds(wanted, total_steps, batch_tokens):
        if (count := min(stop, steps) - first) <= 0:
            continue
        if found and found[-1][1] == stage.settings():
            count += found.pop()[0]
        found.append((count, stage.settings()))
    return found


def _bounds(
    wanted: Sequence[WantedStage], total_steps: int, batch_tokens: int
) -> list[tuple[WantedStage, int, int]]:
    """Each stage with its first step and the one after its last."""
    bounds, first = [], 0
    for number, stage in enumerate(wanted, 1):
        last = number == len(wanted)
        until = stage.until_tokens
        stop = total_steps if until is None else min(until // batch_tokens, total_steps)
        if stop <= first:
            begins = f"it begins at {human(first * batch_tokens)} tokens"
            raise RecipeError(
                f"[[stage]] number {number} has no step: {begins} of {human(total_steps * batch_tokens)}, its "
                f"until_tokens is {'the end' if until is None else human(until)} and a step has {human(batch_tokens)}"
            )
        if last and stop < total_steps:
            raise RecipeError(
                f"[[stage]] number {number}, the last, ends at until_tokens = {human(until or 0)}, and the run at "
                f"{human(total_steps * batch_tokens)}; raise it, leave it out, or add a stage"
            )
        bounds.append((stage, first, stop))
        first = stop
    return bounds


def _resolved(
    stage: WantedStage,
    steps: int,
    domain_tokens: Mapping[str, int],
    batch_tokens: int,
    seen: Mapping[str, int],
) -> PlannedStage:
    weights = resolve_weights(stage.mixture, domain_tokens, steps * batch_tokens, seen)
    order_by = {name: key for name, key in stage.mixture.order_by.items() if name in weights}
    return PlannedStage(
        steps,
        stage.sequence_length,
        stage.packing,
        stage.document_mask,
        stage.reset_positions,
        weights,
        order_by,
    )


def _count(seen: Counter[str], stage: PlannedStage, batch_tokens: int) -> None:
    for domain, weight in stage.weights.items():
        seen[domain] += round(weight * stage.steps * batch_tokens)
