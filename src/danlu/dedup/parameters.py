"""Bands and rows: how likely a pair is found, and which division puts the rise of that curve at a wanted similarity.

Decides: `threshold` minimises the area of what is found below it plus what is missed above it (equal weights, as the
MinHash libraries do); of equal divisions the one with fewer hashes. Costs: a few thousand evaluations of the curve.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from danlu.dedup.settings import MinHash

_STEPS = 1000


def found_share(similarity: npt.NDArray[np.float64], bands: int, rows: int) -> npt.NDArray[np.float64]:
    """The probability that a pair of that Jaccard similarity shares a band: 1 - (1 - s^rows)^bands."""
    return 1.0 - (1.0 - similarity**rows) ** bands


def division(settings: MinHash) -> tuple[int, int]:
    """(bands, rows) that settings give, or that `threshold` solves."""
    if settings.threshold is None:
        return settings.bands, settings.rows
    return solve(settings.threshold, settings.hashes)


@cache
def solve(threshold: float, hashes: int) -> tuple[int, int]:
    """(bands, rows) with bands x rows <= hashes and the smallest error area on both sides of `threshold`."""
    similarity = (np.arange(_STEPS) + 0.5) / _STEPS
    below = similarity < threshold
    best, answer = np.inf, (1, 1)
    for bands in range(1, hashes + 1):
        for rows in range(1, hashes // bands + 1):
            found = found_share(similarity, bands, rows)
            error = float(np.where(below, found, 1.0 - found).mean())
            smaller = abs(error - best) <= 1e-12 and bands * rows < answer[0] * answer[1]
            if error < best - 1e-12 or smaller:
                best, answer = error, (bands, rows)
    return answer
