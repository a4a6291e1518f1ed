"""Repetition: the line rules of Gopher and the page of one character, against slow references."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.quality.repetition import decide, measure
from danlu.quality.settings import Repetition
from danlu.words.text import Text

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
    duplicate_lines, duplicate_characters, _ = measure(Text(text), Repetition()).values
    assert duplicate_lines == pytest.approx(duplicates / lines if lines else 0)
    assert duplicate_characters == pytest.approx(characters / len(text) if text else 0)


@pytest.mark.parametrize("alphabet", ["ab -\n", "aab 文é\u3000\n-", "a😀文 \ud800"])
@given(st.data())
def test_character_share_equals_the_slow_reference(alphabet, data):
    text = data.draw(st.text(alphabet))
    counts = Counter(character for character in text if not character.isspace())
    expected = max(counts.values(), default=0) / max(counts.total(), 1)
    assert measure(Text(text), Repetition()).values[2] == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("one\ntwo\nthree\nfour\none\ntwo", "duplicate_lines"),
        ("short\nx\ny\nz\na long line of words\na long line of words\nw", "duplicate_characters"),
        ("-" * 60 + " title " + "-" * 60, "one_character"),
        ("文" * 60, "one_character"),
        ("A text of one line that says something.", ""),
        ("def f():\n    return 1\n\n\ndef g():\n    return 2\n", ""),
    ],
)
def test_each_rule(text, reason):
    assert decide(measure(Text(text), Repetition()).values, Repetition()) == reason


def test_thresholds_are_settings():
    text = "one\ntwo\none\ntwo"
    settings = Repetition(max_duplicate_line_share=0.5, max_duplicate_character_share=0.5)
    assert decide(measure(Text(text), settings).values, settings) == ""
