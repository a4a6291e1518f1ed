"""Thresholds are found where a step's own decision changes, with the keys that move them."""

import math
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.account.step import Step
from danlu.account.thresholds import Threshold, find_thresholds
from danlu.config import Section
from small_ledger import Wordy, module, steps_of


def test_every_bound_of_every_measure():
    _, wordy, loud, same = steps_of()
    assert find_thresholds(wordy) == [
        Threshold("words", "least", 3.0, "few_words", ("min_words",)),
        Threshold("words", "most", 8.0, "many_words", ("max_words",)),
        Threshold("mean_length", "least", 2.0, "short_words", ("min_mean_length",)),
    ]
    assert find_thresholds(loud) == [Threshold("upper_share", "most", 0.5, "upper", ("max_upper_share",))]
    assert find_thresholds(same) == []


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.floats(1e-3, 1e6))
def test_wherever_they_lie(least: int, room: int, length: float):
    _, wordy, *_ = steps_of(Wordy(min_words=least, max_words=least + room, min_mean_length=length))
    low, high, mean = find_thresholds(wordy)
    assert (low.value, high.value) == (least, least + room)
    assert mean.value == pytest.approx(length, rel=1e-12)


def test_what_is_beyond():
    low, high = find_thresholds(steps_of()[1])[:2]
    assert [low.drops(value) for value in (2.0, 3.0, math.nan)] == [True, False, False]
    assert [high.drops(value) for value in (9.0, 8.0, math.nan)] == [True, False, False]


class Odd(Section):
    use: Literal["odd"] = "odd"
    limit: float = 10.0
    both: float = 5.0
    strict: bool = True


def odd(values, settings):
    flag, ratio, left, right = values
    if settings.strict and flag > 0:
        return "flag"
    if ratio == 0:
        return "empty"
    if ratio >= settings.limit:
        return "ratio"
    return "together" if left + right > settings.both else ""


def test_switches_lone_values_and_rules_over_two_measures():
    step = Step("odd", Odd(), module("odd", MEASURES=("flag", "ratio", "left", "right"), decide=odd))
    flag, ratio = find_thresholds(step)
    assert flag == Threshold("flag", "most", 0.0, "flag", ("strict",))
    # A bound that itself drops reads as the bound; no value at all is no threshold; two measures have none.
    assert ratio == Threshold("ratio", "most", 10.0, "ratio", ("limit",))
