"""Ticks are round, within the axis and few; every finite value falls inside the picture."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.chart.axis import label, linear_ticks, log_ticks, make_axis

floats = st.floats(-1e9, 1e9, allow_nan=False)


@given(st.lists(floats, min_size=1, max_size=20))
def test_values_fall_inside_and_in_order(values):
    axis = make_axis(values, 10.0, 110.0)
    places = [axis.place(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(9.999 <= place <= 110.001 for place in places)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 8))
def test_linear_ticks_are_round_few_and_inside(low, span, count):
    ticks = linear_ticks(low, low + span, count)
    assert len(ticks) <= 2 * count + 1
    for tick in ticks:
        assert low - span * 1e-6 <= tick <= low + span * (1 + 1e-6)
    if len(ticks) > 2:
        step = ticks[1] - ticks[0]
        assert round(step / 10 ** math.floor(math.log10(step) + 1e-6), 3) in (1, 2, 5)


def test_log_ticks():
    assert log_ticks(0.5, 2000, 5) == [1, 10, 100, 1000]
    assert log_ticks(0.2, 4, 5) == pytest.approx([0.2, 0.5, 1, 2])
    assert len(log_ticks(1e-9, 1e9, 5)) <= 6


def test_a_logarithmic_axis_leaves_out_what_it_cannot_show():
    axis = make_axis([-1.0, 0.0, math.nan, 0.1, 10.0], 0.0, 100.0, log=True)
    assert 0 < axis.low < 0.1
    assert axis.place(1.0) == pytest.approx(50.0)
    assert axis.place(-5.0) == pytest.approx(0.0)


def test_axes_of_nothing_and_of_one_value():
    for values in ([], [math.nan], [3.0, 3.0], [0.0], [-2.0]):
        for log in (False, True):
            axis = make_axis(values, 0.0, 100.0, log=log)
            assert math.isfinite(axis.place(3.0))
            assert axis.ticks(4)


def test_positive_values_have_no_negative_axis():
    assert make_axis([0.001, 1.0], 0, 1).low == 0.0
    assert make_axis([-0.001, 1.0], 0, 1).low < 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.25, "0.25"),
        (3e-4, "3e-4"),
        (2.5e-5, "2.5e-5"),
        (12_000, "12K"),
        (-1.5e6, "-1.5M"),
        (700, "700"),
    ],
)
def test_labels(value, text):
    assert label(value) == text
