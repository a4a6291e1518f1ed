"""Thinning a curve: extremes and ends stay."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.monitor.decimate import min_max_decimate


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=400), st.integers(4, 100))
def test_extremes_ends_and_order_stay(ys, points):
    xs = list(range(len(ys)))
    x, y = min_max_decimate(xs, ys, points)
    assert len(x) == len(y) <= points
    assert (x[0], x[-1], y[0], y[-1]) == (0, len(ys) - 1, ys[0], ys[-1])
    assert (y.min(), y.max()) == (min(ys), max(ys))
    assert (np.diff(x) > 0).all()
    assert all(ys[int(at)] == value for at, value in zip(x, y, strict=True))


def test_a_one_step_spike_in_100k_steps_survives():
    ys = np.random.default_rng(1).normal(3.0, 0.1, 100_000)
    ys[61_803] = 99.0
    x, y = min_max_decimate(np.arange(100_000), ys, 1000)
    assert y.max() == 99.0
    assert x[y.argmax()] == 61_803


def test_a_short_curve_stays_and_gaps_are_left_out():
    x, y = min_max_decimate([1, 2, 3, 4], [1.0, None, float("nan"), float("inf")], 4)
    assert (x.tolist(), y.tolist()) == ([1.0], [1.0])
    assert [len(part) for part in min_max_decimate([], [], 4)] == [0, 0]


def test_too_few_points_are_refused():
    with pytest.raises(ValueError, match="at least 4"):
        min_max_decimate([1], [1.0], 3)
