"""The funnel's pictures and tables say what reaches a step and what it drops."""

from danlu.account.funnel import Count, Funnel
from danlu.report.funnel import damage_table, funnel_pictures, reasons_table, share

FUNNEL = Funnel(
    ("length", "exact"),
    {"a": Count(100, 5000)},
    {
        "a": {
            "length.too_long": Count(2, 9),
            "length.too_short": Count(18, 91),
            "exact.duplicate": Count(40, 2000),
        }
    },
    {"truncated": 3},
    {"train": {"a": Count(39, 2000)}, "validation": {"a": Count(1, 30)}},
)


def test_bars_by_step():
    html = funnel_pictures(FUNNEL)
    for said in (
        "dropped by length: 20 (20.0%)",
        "dropped by exact: 40 (50.0%)",
        "kept for train: 39 (39.0%)",
    ):
        assert said in html
    assert "dropped by exact: 2 kB (40.8%)" in html


def test_reasons():
    html = reasons_table(FUNNEL)
    assert html.index("too short") < html.index("too long") < html.index("duplicate")
    assert "50.0%" in html
    assert "Nothing was dropped" in reasons_table(Funnel((), {}, {}, {}, {}))


def test_damage():
    assert "truncated" in damage_table(FUNNEL)
    assert "Everything could be read" in damage_table(Funnel((), {}, {}, {}, {}))


def test_nothing_of_nothing():
    assert share(0, 0) == "-"
    assert share(1, 8) == "12.5%"
