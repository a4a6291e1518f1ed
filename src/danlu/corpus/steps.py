"""The list of steps of a recipe as functions, in its order: each takes a text and says kept or dropped.

Decides: which function does which step; deduplication remembers what it has seen for the life of one build.
Costs: one call a step and document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from danlu.corpus.settings import Step
from danlu.dedup.exact import exact_key
from danlu.dedup.settings import Exact
from danlu.quality.length import check_length
from danlu.quality.normalize import normalize
from danlu.quality.repetition import check_repetition
from danlu.quality.settings import Length, Normalize
from danlu.quality.verdict import Dropped, Kept, Verdict

StepFunction = Callable[[str], Verdict]


def make_steps(settings: Sequence[Step]) -> list[tuple[str, StepFunction]]:
    """(name, function) of each step, top to bottom."""
    return [(step.use, _make(step)) for step in settings]


def _make(step: Step) -> StepFunction:
    if isinstance(step, Normalize):
        return partial(normalize, settings=step)
    if isinstance(step, Length):
        return partial(check_length, settings=step)
    if isinstance(step, Exact):
        return partial(_first_only, settings=step, seen=set())
    return partial(check_repetition, settings=step)


def _first_only(text: str, settings: Exact, seen: set[bytes]) -> Verdict:
    key = exact_key(text, settings)
    if key in seen:
        return Dropped("exact.duplicate")
    seen.add(key)
    return Kept(text)
