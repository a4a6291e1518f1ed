"""The split: a function of the group alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.corpus.split import TRAIN, VALIDATION, share_above, split_of, split_point


def test_the_share_is_met_on_many_groups():
    sides = [split_of(split_point(f"file-{number}"), 0.05) for number in range(20_000)]
    assert sides.count(VALIDATION) / len(sides) == pytest.approx(0.05, abs=0.005)


@given(st.text(), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_only_adds_to_validation(group, one, other):
    if split_of(split_point(group), min(one, other)) == VALIDATION:
        assert split_of(split_point(group), max(one, other)) == VALIDATION


def test_the_split_is_frozen():
    assert split_point("python:stdlib/os.py") == 0.8747104821747953
    assert split_of(split_point("anything"), 0.0) == TRAIN


@given(st.floats(0, 0.98))
def test_the_share_that_is_offered_takes_the_point_in(point):
    share = share_above(point)
    assert point < share <= max(point * 1.2, 1e-11)
    assert len(f"{share:.15g}".lstrip("0.").replace(".", "").rstrip("0").split("e")[0]) <= 2
