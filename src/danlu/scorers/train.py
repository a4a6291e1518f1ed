"""Training a scorer on examples: hashed features, weights, what it reaches on held-out texts, a threshold, a card.

Decides: the scorer is trained without what is held out, and all figures of the card are of that part; the threshold is
chosen there too, by the asked precision or recall, so that these two are as good as that part is large. Where labels
are from 0 to 5, those from `cutoff` on count as positive. Guarantees: the same examples and settings give the same
file. Costs: features at some 10 MB/s and 8 bytes each, then a few seconds for 100,000 short texts; one core.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from danlu.errors import InputError
from danlu.scorers.examples import Examples, is_held_out
from danlu.scorers.features import extract_features
from danlu.scorers.metrics import (
    Curve,
    area_under_curve,
    average_precision,
    choose_threshold,
    correlation,
    mean_absolute_error,
    precision_recall,
    ranks,
    thin,
)
from danlu.scorers.model_file import (
    HIGHEST,
    Card,
    CurveCard,
    DataCard,
    Scale,
    Scorer,
    SourceCard,
    ThresholdCard,
    checksum,
    score_row,
)
from danlu.scorers.settings import Features, Training
from danlu.scorers.solve import Rows, Solution, solve

Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]
DEFAULT_RECALL = 0.9
BINS = 40
_BYTES_A_FEATURE = 8
_PROGRESS_TEXTS = 10_000


def train_scorer(
    examples: Examples, settings: Training, progress: Callable[[str], None] = lambda _: None
) -> Scorer:
    """A scorer of the examples that are not held out, with its card.

    Raises InputError where positives or negatives are missing on a side, the features take more memory than the
    settings allow, or no threshold has the asked precision.
    """
    held = is_held_out(examples.texts, settings.held_out)
    positive = examples.labels >= (settings.cutoff if settings.scale == "0-5" else 1.0)
    _check_sides(positive, held, settings)
    trained = np.flatnonzero(~held)
    rows = build_rows(
        [examples.texts[place] for place in trained], settings.features, settings.memory, progress
    )
    progress(f"{len(trained)} texts with {len(rows.columns)} features; {int(held.sum())} held out")
    solution, weights = _fit(rows, examples.labels[trained], settings)
    progress(f"{solution.passes} passes, at most {solution.gap:.2%} above the best")
    scores = np.array(
        [
            score_row(extract_features(examples.texts[place], settings.features), weights, settings.scale)
            for place in np.flatnonzero(held)
        ]
    )
    truth, labels = positive[held], examples.labels[held]
    curve = precision_recall(scores, truth)
    card = Card(
        name=settings.name,
        scale=settings.scale,
        positive=settings.positive,
        features=settings.features,
        strength=settings.strength,
        seed=settings.seed,
        passes=solution.passes,
        gap=solution.gap,
        cutoff=settings.cutoff if settings.scale == "0-5" else 1.0,
        data=_data_card(examples, held, positive),
        metrics=_metrics(scores, labels, truth, curve, settings.scale),
        threshold=_threshold_card(curve, settings),
        curve=_curve_card(thin(curve), scores, truth, HIGHEST[settings.scale]),
        weights_sha256=checksum(weights),
    )
    return Scorer(weights, card)


def held_out_error(train: Examples, test: Examples, settings: Training) -> float:
    """1 - AUC, or the mean absolute error of points, of a scorer of some examples on others; NaN where none is."""
    positive = test.labels >= 1.0
    if settings.scale == "binary" and (
        len(set(train.labels.tolist())) < 2 or positive.all() or not positive.any()
    ):
        return math.nan
    _, weights = _fit(
        build_rows(list(train.texts), settings.features, settings.memory), train.labels, settings
    )
    scores = np.array(
        [score_row(extract_features(text, settings.features), weights, settings.scale) for text in test.texts]
    )
    if settings.scale == "0-5":
        return mean_absolute_error(scores, test.labels)
    return 1.0 - area_under_curve(scores, positive)


def build_rows(
    texts: list[str], features: Features, memory: int, progress: Callable[[str], None] = lambda _: None
) -> Rows:
    """The features of texts, and behind those of each a last one of value 1, whose weight is the bias."""
    starts = np.zeros(len(texts) + 1, np.int64)
    columns, values = np.empty(0, np.uint32), np.empty(0, np.float32)
    for place, text in enumerate(texts):
        row = extract_features(text, features)
        start, end = int(starts[place]), int(starts[place]) + len(row.buckets) + 1
        if end * _BYTES_A_FEATURE > memory:
            raise InputError(
                f"the features of {place + 1} of {len(texts)} texts take more than memory = {memory} bytes: "
                f"allow more, give fewer examples, or lower features.read_characters"
            )
        if end > len(columns):
            # Grown in place: many small arrays put together at the end would all be there twice.
            room = min(max(end, len(columns) * 5 // 4), memory // _BYTES_A_FEATURE)
            columns.resize(room, refcheck=False)
            values.resize(room, refcheck=False)
        columns[start : end - 1], columns[end - 1] = row.buckets, 1 << features.bucket_bits
        values[start : end - 1], values[end - 1] = row.values, 1.0
        starts[place + 1] = end
        if (place + 1) % _PROGRESS_TEXTS == 0:
            progress(f"features of {place + 1} of {len(texts)} texts")
    columns.resize(int(starts[-1]), refcheck=False)
    values.resize(int(starts[-1]), refcheck=False)
    return Rows(starts, columns, values)


def _fit(rows: Rows, labels: Floats, settings: Training) -> tuple[Solution, npt.NDArray[np.float32]]:
    logistic = settings.scale == "binary"
    # The mean is no part of what is kept small.
    mean = 0.0 if logistic else float(labels.mean())
    targets = 2.0 * labels - 1.0 if logistic else labels - mean
    size = (1 << settings.features.bucket_bits) + 1
    solution = solve(rows, targets, size, settings.strength, logistic, settings.max_passes, settings.seed)
    weights = solution.weights.copy()
    weights[-1] += mean
    return solution, weights.astype(np.float32)


def _check_sides(positive: Truths, held: Truths, settings: Training) -> None:
    for name, chosen in (("trained on", ~held), ("held out", held)):
        count, found = int(chosen.sum()), int((positive & chosen).sum())
        if not 0 < found < count:
            side = "positive" if not found else "negative"
            raise InputError(
                f"of {len(positive)} examples, {count} are {name} and none of these is {side}: give more examples, "
                f"or another share than held_out = {settings.held_out:g}"
            )


def _data_card(examples: Examples, held: Truths, positive: Truths) -> DataCard:
    return DataCard(
        sources=tuple(SourceCard(name=name, examples=count) for name, count in examples.sources),
        left_out=examples.left_out,
        digest=_digest(examples),
        trained=int((~held).sum()),
        trained_positive=int((positive & ~held).sum()),
        held_out=int(held.sum()),
        held_out_positive=int((positive & held).sum()),
    )


def _metrics(
    scores: Floats, labels: Floats, positive: Truths, curve: Curve, scale: Scale
) -> dict[str, float]:
    metrics = {
        "area_under_curve": area_under_curve(scores, positive),
        "average_precision": average_precision(curve),
    }
    if scale == "0-5":
        metrics["mean_absolute_error"] = mean_absolute_error(scores, labels)
        metrics["pearson"] = correlation(scores, labels)
        metrics["spearman"] = correlation(ranks(scores), ranks(labels))
    return metrics


def _threshold_card(curve: Curve, settings: Training) -> ThresholdCard:
    recall = settings.recall or DEFAULT_RECALL
    chosen = choose_threshold(curve, settings.precision, recall)
    aim = f"precision {settings.precision:g}" if settings.precision else f"recall {recall:g}"
    return ThresholdCard(value=chosen.value, precision=chosen.precision, recall=chosen.recall, aim=aim)


def _curve_card(curve: Curve, scores: Floats, positive: Truths, highest: float) -> CurveCard:
    bins = [np.histogram(scores[side], BINS, (0.0, highest))[0] for side in (positive, ~positive)]
    return CurveCard(
        thresholds=tuple(curve.thresholds.tolist()),
        precision=tuple(curve.precision.tolist()),
        recall=tuple(curve.recall.tolist()),
        positive_bins=tuple(bins[0].tolist()),
        negative_bins=tuple(bins[1].tolist()),
    )


def _digest(examples: Examples) -> str:
    hasher = hashlib.sha256()
    for text, label in zip(examples.texts, examples.labels.tolist(), strict=True):
        data = text.encode("utf-8", "surrogatepass")
        hasher.update(f"{label:g} {len(data)} ".encode() + data)
    return hasher.hexdigest()
