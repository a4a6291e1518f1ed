"""How well scores tell labels apart: area under the curve, precision and recall by threshold, errors of a scale.

Decides: equal scores are one threshold, never split by luck; average precision is the sum over thresholds of precision
times the recall gained (no interpolation); a document counts as found where its score is at least the threshold.
Guarantees: all are exact, by sorting. Costs: n log n.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from danlu.errors import InputError

Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]
CURVE_POINTS = 200


class Curve(NamedTuple):
    """(k,) distinct thresholds from high to low, the precision and the recall of scores from there on."""

    thresholds: Floats
    precision: Floats
    recall: Floats


class Threshold(NamedTuple):
    """A chosen threshold, and what it reaches on the scores that it was chosen by."""

    value: float
    precision: float
    recall: float


def area_under_curve(scores: Floats, positive: Truths) -> float:
    """The probability that a positive scores above a negative, ties one half (Mann & Whitney 1947)."""
    found = ranks(scores)
    count = int(positive.sum())
    others = len(scores) - count
    if not count or not others:
        raise InputError("positives and negatives are both needed to measure a scorer; give examples of both")
    return float((found[positive].sum() - count * (count + 1) / 2) / (count * others))


def ranks(values: Floats) -> Floats:
    """(n,) ranks from 1; equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], np.float64)


def precision_recall(scores: Floats, positive: Truths) -> Curve:
    """The whole curve, a point for each distinct score."""
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    found = np.cumsum(positive[order])
    ends = np.flatnonzero(np.append(np.diff(ordered) != 0, True))
    hits = found[ends].astype(np.float64)
    return Curve(ordered[ends], hits / (ends + 1), hits / max(int(positive.sum()), 1))


def average_precision(curve: Curve) -> float:
    """The sum of precision times the recall that each threshold adds."""
    return float((np.diff(curve.recall, prepend=0.0) * curve.precision).sum())


def choose_threshold(curve: Curve, precision: float | None, recall: float | None) -> Threshold:
    """The largest threshold with a recall; or with a precision, the threshold of the largest recall.

    Raises InputError where no threshold has the precision.
    """
    if precision is not None:
        reached = np.flatnonzero(curve.precision >= precision)
        if not len(reached):
            raise InputError(
                f"no threshold has a precision of {precision:g} on what was held out; the best is "
                f"{curve.precision.max():.4g}: ask for less, or for a recall"
            )
        place = int(reached[-1])
    else:
        place = int(np.argmax(curve.recall >= (recall or 0.0)))
    return Threshold(
        float(curve.thresholds[place]), float(curve.precision[place]), float(curve.recall[place])
    )


def thin(curve: Curve) -> Curve:
    """At most CURVE_POINTS points of a curve at even steps of recall, its ends among them."""
    size = len(curve.thresholds)
    if size <= CURVE_POINTS:
        return curve
    wanted = np.linspace(curve.recall[0], curve.recall[-1], CURVE_POINTS - 2)
    kept = np.unique(
        np.append(np.searchsorted(curve.recall, wanted - 1e-12).clip(0, size - 1), [0, size - 1])
    )
    return Curve(*(part[kept] for part in curve))


def mean_absolute_error(scores: Floats, labels: Floats) -> float:
    """The mean distance of scores from labels."""
    return float(np.abs(scores - labels).mean())


def correlation(left: Floats, right: Floats) -> float:
    """Pearson's; 0 where one of the two does not vary. Of `ranks` it is Spearman's."""
    left, right = left - left.mean(), right - right.mean()
    length = float(np.sqrt((left @ left) * (right @ right)))
    return float(left @ right) / length if length > 0 else 0.0
