"""Words of a model against Python's own splitting, at odd texts."""

import itertools
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.lm.tokens import KINDS, cut, spell
from danlu.words.classes import UNSPACED, table
from danlu.words.text import encode

ODD = st.text(max_size=60) | st.text(alphabet="\ud800\0\n\r\v\u2028\u00a0\x85aB9,.'字ไ👍é\u0301", max_size=60)


def words_of(text, kind):
    """The lines of a text as lists of words."""
    found = cut(encode(text), kind)
    words = [spell(found, word) for word in range(len(found.starts))]
    bounds = [0, *found.lines.tolist()]
    return [words[start:end] for start, end in itertools.pairwise(bounds)]


def slow(text, kind):
    lines = []
    for line in text.split("\n"):
        plain = "".join("\ufffd" if "\ud800" <= c < "\ue000" else c for c in line)
        if kind == "spaces":
            words = re.split("[\0\t\v\f\r ]+", plain)
        else:
            words = "".join(slow_character(c, kind) for c in plain).split(" ")
        if words := [word for word in words if word]:
            lines.append(words)
    return lines


def slow_character(character, kind):
    category = unicodedata.category(character)
    if character.isspace() or category == "Cc":
        return " "
    if character == "\ufffd":
        return character
    if category[0] in "PS" or (kind == "characters" and table()[ord(character)] & UNSPACED):
        return f" {character} "
    if character.isdigit():
        return "0"
    return character.lower() if len(character.lower()) == 1 else character


@pytest.mark.parametrize("kind", KINDS)
@given(text=ODD)
def test_words_are_those_of_the_slow_reference(kind, text):
    assert words_of(text, kind) == slow(text, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "text", ["", "a", "   ", "\n\n \n", "\0", "\ud800", "字", "👍", "a\r\nb", "x" * 100_000]
)
def test_odd_texts(kind, text):
    assert words_of(text, kind) == slow(text, kind)


def test_kinds():
    text = "Don't pay 1,250 €!\n他说 Hello。"
    assert words_of(text, "spaces") == [["Don't", "pay", "1,250", "€!"], ["他说", "Hello。"]]
    assert words_of(text, "words")[0] == ["don", "'", "t", "pay", "0", ",", "000", "€", "!"]
    assert words_of(text, "words")[1] == ["他说", "hello", "。"]
    assert words_of(text, "characters")[1] == ["他", "说", "hello", "。"]
