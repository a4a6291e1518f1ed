"""Areas, curves and correlations beside counting pairs and thresholds one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.errors import InputError
from danlu.scorers.metrics import (
    CURVE_POINTS,
    area_under_curve,
    average_precision,
    choose_threshold,
    correlation,
    mean_absolute_error,
    precision_recall,
    ranks,
    thin,
)

pairs = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=40).filter(
    lambda rows: {True, False} == {side for _, side in rows}
)


def split(rows):
    return np.array([score for score, _ in rows], np.float64), np.array([side for _, side in rows])


@given(pairs)
def test_the_area_counts_pairs(rows):
    scores, sides = split(rows)
    won = [(a > b) + 0.5 * (a == b) for a in scores[sides] for b in scores[~sides]]
    assert area_under_curve(scores, sides) == pytest.approx(sum(won) / len(won))


@given(pairs)
def test_the_curve_counts_thresholds(rows):
    scores, sides = split(rows)
    curve = precision_recall(scores, sides)
    assert curve.thresholds.tolist() == sorted(set(scores), reverse=True)
    for threshold, precision, recall in zip(*curve, strict=True):
        found = scores >= threshold
        assert precision == pytest.approx(sides[found].mean())
        assert recall == pytest.approx(sides[found].sum() / sides.sum())
    gained, before = 0.0, 0.0
    for precision, recall in zip(curve.precision, curve.recall, strict=True):
        gained += precision * (recall - before)
        before = recall
    assert average_precision(curve) == pytest.approx(gained)


@given(pairs, st.sampled_from([0.1, 0.5, 0.9, 1.0]))
def test_thresholds_do_what_is_asked(rows, share):
    curve = precision_recall(*split(rows))
    chosen = choose_threshold(curve, None, share)
    assert chosen.recall >= share
    assert chosen.value == max(t for t, r in zip(curve.thresholds, curve.recall, strict=True) if r >= share)
    good = [r for p, r in zip(curve.precision, curve.recall, strict=True) if p >= share]
    if good:
        chosen = choose_threshold(curve, share, None)
        assert chosen.precision >= share
        assert chosen.recall == max(good)
    else:
        with pytest.raises(InputError, match="the best is"):
            choose_threshold(curve, share, None)


def test_one_side_alone_cannot_be_measured():
    with pytest.raises(InputError, match="both"):
        area_under_curve(np.array([1.0, 2.0]), np.array([True, True]))


def test_a_thin_curve_keeps_its_ends():
    random = np.random.default_rng(1)
    curve = precision_recall(random.random(5000), random.random(5000) < 0.3)
    few = thin(curve)
    assert len(few.thresholds) <= CURVE_POINTS
    for whole, part in zip(curve, few, strict=True):
        assert (part[0], part[-1]) == (whole[0], whole[-1])
    assert np.abs(np.diff(few.recall)).max() < 0.01
    assert thin(few) is few


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_equal_values_share_a_rank(values):
    found = ranks(np.array(values, np.float64))
    for value, rank in zip(values, found, strict=True):
        below, same = sum(v < value for v in values), values.count(value)
        assert rank == below + (same + 1) / 2


def test_errors_and_correlations():
    labels = np.array([0.0, 1.0, 2.0, 5.0])
    assert mean_absolute_error(labels + 0.5, labels) == 0.5
    assert correlation(3 * labels + 1, labels) == pytest.approx(1)
    assert correlation(-labels, labels) == pytest.approx(-1)
    assert correlation(np.ones(4), labels) == 0.0
