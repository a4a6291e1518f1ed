"""Repetition: the line rules of Gopher and the page of one character, against slow references."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.quality.repetition import check_repetition, exceeds_character_share, measure_lines
from danlu.quality.settings import Repetition
from danlu.quality.verdict import Dropped, Kept

LINES = st.lists(st.sampled_from(["a", "bc", " a", "", "  ", "def f():", "文字"]), max_size=12).map("\n".join)


@given(LINES)
def test_line_shares_equal_the_slow_reference(text):
    seen, lines, duplicates, characters = set(), 0, 0, 0
    for line in text.split("\n"):
        if not line.strip():
            continue
        lines += 1
        if line in seen:
            duplicates += 1
            characters += len(line)
        seen.add(line)
    found = measure_lines(text)
    assert found.duplicate_lines == pytest.approx(duplicates / lines if lines else 0)
    assert found.duplicate_characters == pytest.approx(characters / len(text) if text else 0)


@given(st.text("aab 文é\u3000\n-"), st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_character_share_equals_the_slow_reference(text, share):
    counts = Counter(character for character in text if not character.isspace())
    expected = max(counts.values(), default=0) > share * counts.total()
    assert exceeds_character_share(text, share) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("one\ntwo\nthree\nfour\none\ntwo", "repetition.duplicate_lines"),
        ("short\nx\ny\nz\na long line of words\na long line of words\nw", "repetition.duplicate_characters"),
        ("-" * 60 + " title " + "-" * 60, "repetition.one_character"),
        ("文" * 60, "repetition.one_character"),
        ("A text of one line that says something.", None),
        ("def f():\n    return 1\n\n\ndef g():\n    return 2\n", None),
    ],
)
def test_each_rule(text, reason):
    assert check_repetition(text, Repetition()) == (Dropped(reason) if reason else Kept(text))


def test_thresholds_are_settings():
    text = "one\ntwo\none\ntwo"
    settings = Repetition(max_duplicate_line_share=0.5, max_duplicate_character_share=0.5)
    assert check_repetition(text, settings) == Kept(text)
