"""The score of a text by a trained scorer, and whether it is beyond the threshold: a step on one document.

Decides: what is dropped is what the recipe's thresholds say; without any, what the scorer's card says: below its
threshold where a high score is to be kept, from it on where it is to be dropped. Guarantees: a text of nothing but
white space has no score and is kept. Costs: some 10 MB/s of what is read, which is the beginning of each text;
the weights, 4 MB, are loaded once a process.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from danlu.scorers.model_file import Scorer, load_scorer, score_text
from danlu.scorers.settings import Classifier
from danlu.words.text import Measured, Text

MEASURES: tuple[str, ...] = ("score",)
REMEASURE = frozenset({"model"})
"""What `decide` reads too, but a change of which changes what is measured."""
_LOADED = 16


def measure(text: Text, settings: Classifier) -> Measured:
    """MEASURES. Raises MissingError, InputError or DamagedError where the scorer cannot be loaded."""
    return Measured(text, (score_text(text, load(settings.model)),))


def decide(values: Sequence[float], settings: Classifier) -> str:
    """ "" keeps; else "below_score" or "above_score"."""
    (score,) = values
    low, high = thresholds(settings)
    if score < low:
        return "below_score"
    return "above_score" if score > high else ""


def thresholds(settings: Classifier) -> tuple[float, float]:
    """The smallest and the largest score that is kept."""
    if settings.min_score is None and settings.max_score is None:
        card = load(settings.model).card
        # From the threshold on a text counts as found, so that the largest one kept is the number before.
        return (
            (card.threshold.value, math.inf)
            if card.positive == "keep"
            else (-math.inf, math.nextafter(card.threshold.value, -math.inf))
        )
    low = -math.inf if settings.min_score is None else settings.min_score
    return low, math.inf if settings.max_score is None else settings.max_score


def load(model: str) -> Scorer:
    """The scorer of a file, loaded once until the file changes."""
    path = Path(model)
    return _load(model, path.stat().st_mtime_ns if path.is_file() else 0)


@lru_cache(_LOADED)
def _load(model: str, _changed: int) -> Scorer:
    return load_scorer(Path(model))


def forget_files() -> None:
    """Scorers are read anew by the next text: for a process that builds a second time."""
    _load.cache_clear()
