"""Thins a curve for a chart without hiding a spike: every extreme of it stays.

Min-max decimation: each of equal stretches of points gives its lowest and its highest. Guarantees: first and
last point, global minimum and maximum stay, in their order; at most `points` remain. Costs: one pass in
numpy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def min_max_decimate(
    xs: Sequence[float] | Floats, ys: Sequence[float | None] | Floats, points: int
) -> tuple[Floats, Floats]:
    """At most `points` (>= 4) of the curve; points whose y is not finite or None are left out."""
    if points < 4:
        raise ValueError(f"{points} points cannot hold a curve's ends and extremes; at least 4 are needed")
    x, y = np.asarray(xs, dtype=np.float64), np.asarray(ys, dtype=np.float64)
    finite = np.isfinite(y)
    x, y = x[finite], y[finite]
    if len(y) <= points:
        return x, y
    stretches = np.array_split(np.arange(1, len(y) - 1), (points - 2) // 2)
    extremes = [stretch[extreme(y[stretch])] for stretch in stretches for extreme in (np.argmin, np.argmax)]
    kept = np.unique([0, *extremes, len(y) - 1])
    return x[kept], y[kept]
