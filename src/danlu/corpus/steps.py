"""The list of steps of a recipe as functions, in its order: each takes a text and says kept or dropped.

Decides: which function does which step; deduplication remembers what it has seen for the life of one build. Guarantee:
a text that any document holds out for validation is held out, wherever its copies lie: a copy for training that came
first is superseded. Costs: one call a step and document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from danlu.corpus.settings import Step
from danlu.corpus.split import VALIDATION
from danlu.dedup.exact import exact_key
from danlu.dedup.settings import Exact
from danlu.quality.length import check_length
from danlu.quality.normalize import normalize
from danlu.quality.repetition import check_repetition
from danlu.quality.settings import Length, Normalize
from danlu.quality.verdict import Dropped, Kept, Verdict

DUPLICATE = "exact.duplicate"
_HELD_OUT = -1


@dataclass(frozen=True, slots=True)
class Place:
    """What a step may know of a document beside its text: its number in the build, and its side of the split."""

    number: int
    split: str


StepFunction = Callable[[str, Place], Verdict]


def make_steps(settings: Sequence[Step], superseded: set[int]) -> list[tuple[str, StepFunction]]:
    """(name, function) of each step, top to bottom.

    `superseded` collects the numbers of documents that were kept for training until a copy of them was held out.
    """
    return [(step.use, _make(step, superseded)) for step in settings]


def _make(step: Step, superseded: set[int]) -> StepFunction:
    if isinstance(step, Exact):
        return partial(_once, settings=step, seen={}, superseded=superseded)
    if isinstance(step, Normalize):
        return _of_text(partial(normalize, settings=step))
    if isinstance(step, Length):
        return _of_text(partial(check_length, settings=step))
    return _of_text(partial(check_repetition, settings=step))


def _of_text(function: Callable[[str], Verdict]) -> StepFunction:
    return lambda text, _: function(text)


def _once(text: str, place: Place, settings: Exact, seen: dict[bytes, int], superseded: set[int]) -> Verdict:
    """Keeps the first of equal texts, or the first that is held out. `seen`: key -> the number of who has it."""
    key = exact_key(text, settings)
    first = seen.get(key)
    if first is not None and (first == _HELD_OUT or place.split != VALIDATION):
        return Dropped(DUPLICATE)
    if first is not None:
        superseded.add(first)
    seen[key] = _HELD_OUT if place.split == VALIDATION else place.number
    return Kept(text)
