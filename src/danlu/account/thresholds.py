"""Where a measure begins to drop a document, and which key moves that: found by asking the step's own `decide`.

Decides: a measure is tried alone, all others not measured, so what is found is what that measure does by itself; a rule
over several measures at once has no threshold of its own. Guarantee: there is no table of thresholds that could differ
from what a step does. Costs: some thousand calls of `decide` a step, milliseconds; nothing is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from danlu.account.step import Step

_POWERS = [10.0**exponent for exponent in range(-6, 13)]
_EXTREME = 1e15
_HALVINGS = 200


@dataclass(frozen=True, slots=True)
class Threshold:
    """`value` is the least or the most of a measure that is kept; what is beyond it is dropped for `reason`."""

    measure: str
    side: Literal["least", "most"]
    value: float
    reason: str
    keys: tuple[str, ...]
    """The settings that move it."""

    def drops(self, value: float) -> bool:
        """Whether a value is beyond it; one that was not measured is not."""
        return value < self.value if self.side == "least" else value > self.value


def find_thresholds(step: Step) -> list[Threshold]:
    """The thresholds of a step in the order of its measures; none for deduplication."""
    return [found for measure in range(len(step.measures)) for found in _of_measure(step, measure)]


def _of_measure(step: Step, measure: int) -> Iterator[Threshold]:
    def verdict(value: float) -> str:
        return step.reason_of_one(measure, value)

    points = _points(step)
    verdicts = _without_lone([verdict(point) for point in points])
    for (low, below), (high, above) in pairwise(zip(points, verdicts, strict=True)):
        if bool(below) == bool(above):
            continue
        kept, dropped = _edge(verdict, low, high)
        side: Literal["least", "most"] = "least" if below else "most"
        keys = tuple(key for key, _ in _movable(step) if _moves(step, measure, key, dropped))
        yield Threshold(step.measures[measure], side, _plain(kept, points), below or above, keys)


def _without_lone(verdicts: list[str]) -> list[str]:
    """A single value that is dropped, such as no words at all, is no threshold."""
    padded = ["", *verdicts, ""]
    return [
        "" if not before and not after else said
        for before, said, after in zip(padded, verdicts, padded[2:], strict=False)
    ]


def _points(step: Step) -> list[float]:
    """Values between which a verdict may change: every number of the settings, zero, and powers of ten."""
    return sorted({0.0, *_POWERS, *(float(value) for _, value in _movable(step))})


def _edge(verdict: Callable[[float], str], low: float, high: float) -> tuple[float, float]:
    """(the last value that is kept, the first that is dropped) between two points with different verdicts."""
    low_is_kept = not verdict(low)
    for _ in range(_HALVINGS):
        middle = low + (high - low) / 2
        if not low < middle < high:
            break
        if (not verdict(middle)) == low_is_kept:
            low = middle
        else:
            high = middle
    return (low, high) if low_is_kept else (high, low)


def _plain(value: float, points: list[float]) -> float:
    """A neighbour of a point as the point itself, so that `< 3` and `<= 3` both read 3."""
    near = (point for point in points if math.isclose(value, point, rel_tol=1e-12, abs_tol=1e-30))
    return next(near, value)


def _movable(step: Step) -> list[tuple[str, int | float]]:
    return [(key, value) for key, value in step.settings if isinstance(value, (int, float))]


def _moves(step: Step, measure: int, key: str, dropped: float) -> bool:
    """Whether another value of a key keeps what is dropped now."""
    value = getattr(step.settings, key)
    others = (not value,) if isinstance(value, bool) else (-_EXTREME, _EXTREME)
    changed = (step.settings.model_copy(update={key: other}) for other in others)
    return any(not step.reason_of_one(measure, dropped, settings) for settings in changed)
