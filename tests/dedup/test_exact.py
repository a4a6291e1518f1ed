"""The key that equal texts share, and the pieces of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.dedup.exact import exact_key, pieces
from danlu.dedup.settings import Boilerplate, Exact
from danlu.words.text import Text

AS_IT_IS = Exact(ignore_white_space=False)


def test_white_space_runs_count_as_one_space():
    assert exact_key("a  b\n\tc ", Exact()) == exact_key("a b c", Exact())
    assert exact_key("a b", Exact()) != exact_key("ab", Exact())
    assert exact_key("a  b", AS_IT_IS) != exact_key("a b", AS_IT_IS)


@given(st.text(), st.text())
def test_different_texts_have_different_keys(one, other):
    assert (exact_key(one, AS_IT_IS) == exact_key(other, AS_IT_IS)) == (one == other)
    assert len(exact_key(one, AS_IT_IS)) == 32


def cut(text, **keys):
    return [text[start:end] for start, end in pieces(Text(text), Exact(**keys))]


@pytest.mark.parametrize(
    ("text", "lines", "paragraphs"),
    [
        ("", [], []),
        (" \n\t\n", [], []),
        ("a", ["a"], ["a"]),
        ("a\nb\n\nc\n", ["a", "b", "c"], ["a\nb", "c"]),
        ("\n\n a\n \t\nb\r\nc", [" a", "b\r", "c"], [" a", "b\r\nc"]),
        ("一行\n二行\n\n😀\ud800", ["一行", "二行", "😀\ud800"], ["一行\n二行", "😀\ud800"]),
        ("a\r\n\r\nb", ["a\r", "b"], ["a\r", "b"]),
    ],
)
def test_lines_and_paragraphs(text, lines, paragraphs):
    assert cut(text, unit="line") == lines
    assert cut(text, unit="paragraph") == paragraphs


def test_small_pieces_are_left_out():
    assert cut("ab\nabc", unit="line", min_characters=3) == ["abc"]
    assert pieces(Text("ab\nabc"), Boilerplate(min_characters=3)) == [(3, 6)]


def test_white_space_at_the_ends_of_a_line_is_no_part_of_its_size():
    text = Text("  ab\t \n abc\r\na b")
    assert pieces(text, Boilerplate(min_characters=3)) == [(7, 12), (13, 16)]
    assert pieces(text, Exact(unit="line", min_characters=6)) == [(0, 6)]


def test_runs_of_three_sentences():
    text = "One is here. Two is here. Three is here. Four is here."
    assert cut(text, unit="sentences") == [
        "One is here. Two is here. Three is here.",
        "Two is here. Three is here. Four is here.",
    ]
    assert cut("One is here. Two is here.", unit="sentences") == []


def test_a_long_blank_line_costs_no_square():
    assert cut(" " * 200_000 + "\nx", unit="paragraph") == ["x"]
