"""A verdict is a value with a reason."""

from danlu.quality.verdict import Dropped, Kept


def test_verdicts_compare_by_value():
    assert Kept("a") == Kept("a") != Dropped("a")
