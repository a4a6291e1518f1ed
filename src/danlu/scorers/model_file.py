"""A trained scorer as one safetensors file: its weights, and its card as JSON in the metadata.

Decides: the card says what the score means, which features are hashed how, what the scorer was trained on, how it did
on what was held out, and from which score on something happens. Guarantees: the same training writes the same bytes;
no code is ever loaded; a file whose card, shape or checksum does not fit is refused. Costs: 4 bytes a bucket.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from danlu.config import Section
from danlu.errors import DamagedError, InputError, MissingError
from danlu.files import write_bytes
from danlu.scorers.features import Row, extract_features
from danlu.scorers.settings import Features
from danlu.words.text import Text

HIGHEST = {"binary": 1.0, "0-5": 5.0}
"""The largest score of each scale; the smallest is 0."""
_CARD, _WEIGHTS = "danlu_scorer", "weights"

Weights = npt.NDArray[np.float32]
Scale = Literal["binary", "0-5"]


class SourceCard(Section):
    """A file of examples by its name, and how many it gave."""

    name: str
    examples: int


class DataCard(Section):
    """What a scorer was trained and measured on."""

    sources: tuple[SourceCard, ...]
    left_out: dict[str, int]
    """Rows by the reason why they are no examples."""
    digest: str
    """SHA-256 of all texts and labels in order."""
    trained: int
    trained_positive: int
    held_out: int
    held_out_positive: int


class ThresholdCard(Section):
    """From which score on something happens, and what that reaches on what was held out."""

    value: float
    precision: float
    recall: float
    aim: str
    """What it was chosen for, e.g. "recall 0.9"."""


class CurveCard(Section):
    """What was held out: precision and recall from thresholds on, and how many scores are in equal bins from 0 on."""

    thresholds: tuple[float, ...]
    precision: tuple[float, ...]
    recall: tuple[float, ...]
    positive_bins: tuple[int, ...]
    negative_bins: tuple[int, ...]


class Card(Section):
    """All that is known of a scorer."""

    format: Literal[1] = 1
    name: str
    scale: Scale
    positive: Literal["keep", "drop"]
    """What happens to a document with a high score."""
    features: Features
    strength: float
    seed: int
    passes: int
    gap: float
    """The share by which the objective may be above the best."""
    cutoff: float
    """Labels from here on count as positive."""
    data: DataCard
    metrics: dict[str, float]
    threshold: ThresholdCard
    curve: CurveCard
    weights_sha256: str


@dataclass(frozen=True, slots=True)
class Scorer:
    """(buckets + 1,) weights, the last one the bias, and the card."""

    weights: Weights
    card: Card


def score_text(text: Text | str, scorer: Scorer) -> float:
    """The score of a text: a probability, or 0 to 5; not a number where the text is nothing but white space."""
    return score_row(extract_features(text, scorer.card.features), scorer.weights, scorer.card.scale)


def score_row(row: Row, weights: Weights, scale: Scale) -> float:
    """The score of the features of a text."""
    if not len(row.buckets):
        return math.nan
    # numpy's own sum, not a product of vectors, whose order BLAS chooses by the machine.
    score = float((weights[row.buckets] * row.values.astype(np.float64)).sum()) + float(weights[-1])
    if scale == "binary":
        return 0.5 * (1.0 + math.tanh(0.5 * score))
    return min(max(score, 0.0), HIGHEST[scale])


def checksum(weights: Weights) -> str:
    """The SHA-256 of weights as they are stored."""
    return hashlib.sha256(np.ascontiguousarray(weights, "<f4").tobytes()).hexdigest()


def save_scorer(path: Path, scorer: Scorer) -> None:
    """Writes a scorer atomically."""
    from safetensors.numpy import save

    # One key alone: the order of several would differ from process to process.
    write_bytes(path, save({_WEIGHTS: scorer.weights}, {_CARD: scorer.card.model_dump_json()}))


def load_scorer(path: Path) -> Scorer:
    """Reads a scorer. Raises MissingError; InputError where it is another file; DamagedError where it is not whole."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise MissingError(
            f"the scorer {path} does not exist; train one with `danlu corpus train-classifier`"
        )
    try:
        with safe_open(path, framework="numpy") as file:
            text = (file.metadata() or {}).get(_CARD, "")
            names = list(file.keys())
            weights = file.get_tensor(_WEIGHTS) if names == [_WEIGHTS] and text else None
    except (SafetensorError, OSError, ValueError) as error:
        raise DamagedError(f"the scorer {path} is damaged ({error}); train it again") from error
    if weights is None:
        raise InputError(
            f"{path} is no scorer of danlu (it holds {', '.join(names) or 'nothing'}): "
            f"train one with `danlu corpus train-classifier`"
        )
    return _checked(path, weights, _read_card(path, text))


def _read_card(path: Path, text: str) -> Card:
    try:
        return Card.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise DamagedError(
            f"the card of the scorer {path} does not fit this version ({key}: {first['msg']}); train it again"
        ) from error


def _checked(path: Path, weights: npt.NDArray[np.float32], card: Card) -> Scorer:
    size = (1 << card.features.bucket_bits) + 1
    if weights.dtype != np.float32 or weights.shape != (size,):
        raise DamagedError(
            f"the scorer {path} has weights {weights.dtype} {weights.shape}, its card says float32 ({size},); "
            f"train it again"
        )
    if checksum(weights) != card.weights_sha256 or not np.isfinite(weights).all():
        raise DamagedError(f"the weights of the scorer {path} are not those of its card; train it again")
    return Scorer(weights, card)
