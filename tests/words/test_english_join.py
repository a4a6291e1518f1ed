"""Joining again what spells an exception: which sequences win, and which only hide others."""

from __future__ import annotations

import pytest

from danlu.words.english_chunks import split_chunks
from danlu.words.english_join import find_sequences, join_exceptions
from danlu.words.spacy_english import rules_of_english
from danlu.words.text import encode


def words_of(text: str) -> list[str]:
    codes, rules = encode(text), rules_of_english()
    starts, ends = join_exceptions(codes, *split_chunks(codes, rules), rules)
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("f(x):", ["f(x", "):"]),
        ("a :)", ["a", ":)"]),
        ("a:)", ["a", ":)"]),
        ("a:-))", ["a:-", ")", ")"]),
        ("(x) :", ["(", "x", ")", ":"]),
        ("(x)\n:", ["(", "x", ")", ":"]),
        ("", []),
    ],
)
def test_examples(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_across_a_space_hides_but_does_not_join(spacy_english: object) -> None:
    assert callable(spacy_english)
    for text in ("(x): )", "(x): ) ) )", "x:) )", "x:( ( (", "(x): - )", "(x):  )", "y) : )", "f(x):-)"):
        assert words_of(text) == [word.text for word in spacy_english(text) if not word.text.isspace()], text


def test_nothing_found_keeps_the_arrays() -> None:
    codes, rules = encode("plain words."), rules_of_english()
    starts, ends = split_chunks(codes, rules)
    assert find_sequences(codes, starts, ends, rules.flags, rules.sequences).shape == (0, 2)
    assert len(join_exceptions(codes, starts, ends, rules)[0]) == len(starts)
