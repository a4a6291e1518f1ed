"""Published figures are whole, and ours stand beside them by step."""

import re

import pytest

from danlu.account.funnel import Count, Funnel
from danlu.report.published import read_published, share_kept

FUNNEL = Funnel(
    ("length", "exact"),
    {"a": Count(100, 1000)},
    {"a": {"length.too_short": Count(20, 100), "exact.duplicate": Count(40, 450)}},
    {},
    {"train": {"a": Count(40, 450)}},
)


def test_every_figure_has_its_place():
    rows = read_published()
    assert len(rows) >= 5
    for row in rows:
        assert 0 < row.kept < 1
        assert re.search(r"arXiv \d{4}\.\d{5}, (section|table|figure)", row.place)
        assert row.unit in {"documents", "tokens", "bytes", "characters"}


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (("length",), (0.8, 0.9)),
        (("exact",), (0.5, 0.5)),
        (("length", "exact"), (0.4, 0.45)),
        ((), (0.4, 0.45)),
        (("c4",), None),
    ],
)
def test_our_share(steps, expected):
    found = share_kept(FUNNEL, steps)
    assert found == (expected if expected is None else pytest.approx(expected))


def test_a_figure_of_what_comes_behind_some_steps_is_compared_without_them():
    assert share_kept(FUNNEL, (), ("length",)) == pytest.approx((0.5, 0.5))


def test_of_nothing_there_is_no_share():
    assert share_kept(Funnel(("length",), {"a": Count()}, {}, {}, {}), ()) is None
