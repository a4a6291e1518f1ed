"""The funnel's pictures and tables say what reaches a step and what it drops."""

from dataclasses import replace

from danlu.account.funnel import Count, Flow, Funnel
from danlu.files import write_json
from danlu.report.funnel import cuts_table, damage_table, funnel_pictures, load_funnel, reasons_table, share

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


def test_cuts():
    flow = Flow(Count(100, 5000), {}, Count(40, 2030), {"length": Count(4, 870)})
    cut = replace(FUNNEL, languages={"a": {"": flow}})
    assert cuts_table(FUNNEL) == ""
    assert "10.0%" in cuts_table(cut)
    assert "870 bytes" in cuts_table(cut)
    assert "cut by length: 870 bytes (17.4%)" in funnel_pictures(cut)


def test_tokens_are_shown_once_they_are_measured(tmp_path):
    write_json(tmp_path / "corpus" / "funnel.json", FUNNEL.to_json())
    assert load_funnel(tmp_path) == FUNNEL
    assert "tokens" not in reasons_table(FUNNEL)
    built = ((39, 2000, 380), (1, 30, 26))
    rows = [
        {"domain": "a", "split": split, "documents": documents, "bytes": size, "tokens": tokens}
        for split, (documents, size, tokens) in zip(("train", "validation"), built, strict=True)
    ]
    write_json(tmp_path / "tokens" / "manifest.json", {"facts": {"domains": rows}})
    funnel = load_funnel(tmp_path)
    assert funnel.total_read().tokens == 1000
    assert ">400<" in reasons_table(funnel)
    assert "dropped by exact: 400 (40.8%)" in funnel_pictures(funnel)
    write_json(tmp_path / "tokens" / "manifest.json", {"facts": {"domains": rows[:1]}})
    assert load_funnel(tmp_path) == FUNNEL, "tokens of an earlier corpus say nothing of this one"


def test_damage():
    assert "truncated" in damage_table(FUNNEL)
    assert "Everything could be read" in damage_table(Funnel((), {}, {}, {}, {}))


def test_nothing_of_nothing():
    assert share(0, 0) == "-"
    assert share(1, 8) == "12.5%"
