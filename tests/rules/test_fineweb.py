"""FineWeb's own rules against the slow reference, and what each drops."""

import math

import pytest
from hypothesis import given

import published_rules
from danlu.rules.fineweb import MEASURES, decide, measure
from danlu.rules.settings import FineWeb
from danlu.words.text import Text

SETTINGS = FineWeb()


def measures(text: str, settings: FineWeb = SETTINGS) -> dict[str, float]:
    values = measure(Text(text, words_setting="plain"), settings).values
    return {name: value for name, value in zip(MEASURES, values, strict=True) if not math.isnan(value)}


def reason(text: str, **settings: object) -> str:
    chosen = FineWeb(**settings)
    return decide(measure(Text(text, words_setting="plain"), chosen).values, chosen)


@given(published_rules.TEXTS)
def test_measures_equal_the_slow_reference(text):
    assert measures(text) == published_rules.fineweb(text, text.split(), 30)
    assert measures(text, FineWeb(short_line_length=2)) == published_rules.fineweb(text, text.split(), 2)


@pytest.mark.parametrize("text", published_rules.EDGES, ids=lambda text: repr(text)[:12])
def test_edges_equal_the_slow_reference(text):
    assert measures(text) == published_rules.fineweb(text, text.split(), 30)


LINE = "This line has more than thirty characters and it ends"


@pytest.mark.parametrize(
    ("text", "settings", "expected"),
    [
        ("", {}, "empty"),
        (" \n\u3000\n", {}, "empty"),
        (f"{LINE}.", {}, ""),
        (f"{LINE}", {}, "line_punct_ratio"),
        (f"{LINE}", {"line_punct_exclude_zero": True}, ""),
        (
            "\n".join([f"{LINE} {number}" for number in range(9)] + ["End."]),
            {"line_punct_exclude_zero": True},
            "line_punct_ratio",
        ),
        ("Short.\nOnes.\nHere.", {}, "short_line_ratio"),
        (f"{LINE}.\n{LINE}.", {}, "char_dup_ratio"),
        (f"{LINE}.\n\n\n\n\n\n", {}, "list_ratio"),
        ("这是一个足够长的句子，它的字数超过了三十个字，所以它不是短行，而且它以句号结束。", {}, ""),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_each_rule_has_its_reason(text, settings, expected):
    assert reason(text, **settings) == expected


def test_a_measure_equal_to_its_threshold_keeps():
    assert decide([10, 0.12, 0.67, 0.01, 0.3], SETTINGS) == ""
