"""How many more labels are worth giving: by a learning curve, and by how well the share of a label is known.

Decides: a scorer is trained on growing shares of the labels, several times each, and its error on held-out ones is
fitted by a + b n^-c (Hestness et al. 2017), a, b >= 0; what doubling the labels would gain is the fit's difference, and
as many are worth giving as there are doublings that each gain `worth_gain`. The spread of the fits of the single
repeats is given beside it. With too few labels nothing is claimed. Costs: sizes x repeats trainings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from danlu.rng import generator

LEAST_LABELS = 40
"""With fewer a curve would say nothing."""

_SHARES = (0.125, 0.177, 0.25, 0.354, 0.5, 0.707, 1.0)
_EXPONENTS = np.arange(0.05, 1.001, 0.05)
"""An error seldom falls faster than 1 / n; a steeper fit follows the noise of the first points."""
_HELD_OUT = 0.25
_DOUBLINGS = 10

Floats = npt.NDArray[np.float64]


class Example(NamedTuple):
    """A text and its label as a number."""

    text: str
    label: float


Evaluate = Callable[[Sequence[Example], Sequence[Example]], float]
"""Trains on the first and returns the error on the second: 1 - AUC, or the mean absolute error. NaN: cannot be told."""


class Fit(NamedTuple):
    """error(n) = floor + scale n^-exponent."""

    floor: float
    scale: float
    exponent: float

    def at(self, count: float) -> float:
        """The error that it expects with so many labels."""
        return float(self.floor + self.scale * count**-self.exponent)


@dataclass(frozen=True, slots=True)
class Worth:
    """What more labels would bring."""

    labels: int
    counts: tuple[int, ...]
    """Labels trained on."""
    errors: tuple[float, ...]
    """Mean held-out error at each."""
    fit: Fit
    gain: float
    """By how much twice the labels trained on would lower the error."""
    gain_low: float
    gain_high: float
    """The least and the greatest gain of the fits of single repeats."""
    more: int
    """How many more labels are worth giving."""


def measure_worth(
    examples: Sequence[Example],
    evaluate: Evaluate,
    worth_gain: float = 0.005,
    repeats: int = 4,
    seed: int = 1,
) -> Worth | None:
    """The learning curve of labelled examples; None with fewer than LEAST_LABELS or where no error could be told.

    `worth_gain`: how much doubling the labels has to lower the error to be worth it.
    """
    if len(examples) < LEAST_LABELS:
        return None
    errors = _errors(examples, evaluate, repeats, seed)
    counts = _counts(len(examples) - round(len(examples) * _HELD_OUT))
    known = ~np.isnan(errors).any(axis=0)
    if known.sum() < 3:
        return None
    places = np.array(counts, np.float64)[known]
    errors = errors[:, known]
    fit = fit_power_law(places, errors.mean(axis=0))
    last = int(places[-1])
    gains = sorted(one.at(last) - one.at(2 * last) for one in (fit_power_law(places, row) for row in errors))
    return Worth(
        len(examples),
        tuple(int(place) for place in places),
        tuple(errors.mean(axis=0).tolist()),
        fit,
        fit.at(last) - fit.at(2 * last),
        gains[0],
        gains[-1],
        _more(fit, len(examples), worth_gain),
    )


def describe(worth: Worth | None, worth_gain: float = 0.005) -> Iterator[str]:
    """What the curve says, as lines."""
    if worth is None:
        yield f"how many more are worth giving cannot be told yet: that takes {LEAST_LABELS} labels, not all the same"
        return
    curve = ", ".join(
        f"{count:,}: {error:.3f}" for count, error in zip(worth.counts, worth.errors, strict=True)
    )
    yield f"held-out error by labels trained on: {curve}"
    yield (
        f"twice the labels would lower it by about {worth.gain:.3f} "
        f"(single runs say {worth.gain_low:.3f} to {worth.gain_high:.3f})"
    )
    if worth.more:
        yield f"worth giving: about {worth.more:,} more, until a doubling gains less than {worth_gain:g}"
    else:
        yield f"no more are worth giving: a doubling gains less than {worth_gain:g}"


def rate_interval(count: int, total: int, confidence: float = 0.95) -> tuple[float, float]:
    """Where the true share of a label lies, of which `count` of `total` documents have it (Wilson 1927)."""
    if not 0 <= count <= total:
        raise ValueError(f"{count} of {total} is no share")
    if not total:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = count / total
    middle = (share + z**2 / (2 * total)) / (1 + z**2 / total)
    reach = z / (1 + z**2 / total) * math.sqrt(share * (1 - share) / total + z**2 / (4 * total**2))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def fit_power_law(counts: Floats, errors: Floats) -> Fit:
    """Least squares of floor + scale n^-exponent, floor and scale >= 0, over a grid of exponents; for K >= 2 points."""
    best, fit = math.inf, Fit(fmean(errors.tolist()), 0.0, 1.0)
    for exponent in _EXPONENTS:
        fallen = counts**-exponent
        for floor, scale in _lines(fallen, errors):
            loss = float(((floor + scale * fallen - errors) ** 2).sum())
            if loss < best - 1e-15:
                best, fit = loss, Fit(floor, scale, float(exponent))
    return fit


def _lines(xs: Floats, ys: Floats) -> Iterator[tuple[float, float]]:
    """The least squares line and, at the bounds, the one through the origin and the level one; floor, scale >= 0."""
    spread = float(((xs - xs.mean()) ** 2).sum())
    scale = float(((xs - xs.mean()) * (ys - ys.mean())).sum()) / spread
    floor = float(ys.mean()) - scale * float(xs.mean())
    if scale >= 0 and floor >= 0:
        yield floor, scale
    yield 0.0, max(0.0, float((xs * ys).sum() / (xs * xs).sum()))
    yield max(0.0, float(ys.mean())), 0.0


def _errors(examples: Sequence[Example], evaluate: Evaluate, repeats: int, seed: int) -> Floats:
    """(repeats, counts): each repeat holds out another part, and trains on growing beginnings of the rest."""
    held_out = round(len(examples) * _HELD_OUT)
    rows = []
    for repeat in range(repeats):
        order = generator(seed, "worth", repeat).permutation(len(examples))
        test = [examples[place] for place in order[:held_out]]
        train = [examples[place] for place in order[held_out:]]
        rows.append([evaluate(train[:count], test) for count in _counts(len(train))])
    return np.array(rows, np.float64)


def _counts(total: int) -> list[int]:
    return [round(total * share) for share in _SHARES]


def _more(fit: Fit, labels: int, worth_gain: float) -> int:
    """Labels are doubled as long as that gains enough; ten times at most."""
    count = labels
    for _ in range(_DOUBLINGS):
        if fit.at(count) - fit.at(2 * count) < worth_gain:
            break
        count *= 2
    return count - labels
