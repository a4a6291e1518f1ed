"""Gopher's repetition rules against the slow reference, and what each drops."""

import math
import random

import pytest
from hypothesis import given

import published_rules
from danlu.rules.gopher_repetition import MEASURES, REASONS, SHARES, decide, measure
from danlu.rules.settings import GopherRepetition
from danlu.words.text import Text

SETTINGS = GopherRepetition()


def values(text: str) -> tuple[float, ...]:
    return measure(Text(text, words_setting="plain"), SETTINGS).values


@given(published_rules.TEXTS)
def test_measures_equal_the_slow_reference(text):
    if text:
        expected = published_rules.gopher_repetition(text, text.split())
        assert dict(zip(MEASURES, values(text), strict=True)) == expected


@pytest.mark.parametrize("text", published_rules.EDGES[1:], ids=lambda text: repr(text)[:12])
def test_edges_equal_the_slow_reference(text):
    expected = published_rules.gopher_repetition(text, text.split())
    assert dict(zip(MEASURES, values(text), strict=True)) == expected


def test_long_texts_equal_the_slow_reference():
    draw = random.Random(4)
    for words in (100, 1_000, 3_000):
        text = " ".join(draw.choices(["alpha", "be", "c", "0", "00"], k=words))
        text = text.replace(" 0 be ", "\n").replace(" c be ", "\n\n")
        expected = published_rules.gopher_repetition(text, text.split())
        assert dict(zip(MEASURES, values(text), strict=True)) == expected


def test_an_empty_text_is_empty_and_has_no_shares():
    characters, *shares = values("")
    assert characters == 0
    assert all(map(math.isnan, shares))
    assert decide(values(""), SETTINGS) == "empty"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" ", ""),
        (" \t\u3000 ", ""),
        ("\n\n", "dup_line_frac"),
        ("one two", "top_2_gram"),
        ("one two three four", "top_2_gram"),
        ("alone", ""),
        ("a b\n\nc d\n\na b", "dup_para_frac"),
        ("\n\n".join(["long" * 30, *"abcd", "long" * 30]), "dup_para_char_frac"),
        ("x\nx\ny y y\ny y y", "dup_line_frac"),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_reasons(text, expected):
    assert decide(values(text), SETTINGS) == expected


@pytest.mark.parametrize(("share", "reason"), list(zip(SHARES, REASONS, strict=True)))
def test_each_share_has_its_threshold(share, reason):
    threshold = getattr(SETTINGS, share)
    found = [100.0, *(threshold if name == share else 0.0 for name in SHARES)]
    assert decide(found, SETTINGS) == ""
    found[1 + SHARES.index(share)] = math.nextafter(threshold, 1.0)
    assert decide(found, SETTINGS) == reason
    assert decide(found, GopherRepetition(**{share: 1.0})) == ""


def test_the_first_rule_in_order_is_the_reason():
    assert decide([100.0, *(1.0 for _ in SHARES)], SETTINGS) == "dup_para_frac"
