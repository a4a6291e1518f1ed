"""Cutting chunks: single rules by example, and that words fill their chunks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from danlu.words.english_chunks import find_exception, split_chunks
from danlu.words.english_rules import read_exceptions
from danlu.words.spacy_english import rules_of_english
from danlu.words.text import encode


def words_of(text: str) -> list[str]:
    starts, ends = split_chunks(encode(text), rules_of_english())
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


@pytest.mark.parametrize(
    ("chunk", "words"),
    [
        ("", []),
        ("word", ["word"]),
        ("cannot", ["can", "not"]),
        ("(can't)", ["(", "ca", "n't", ")"]),
        ("well-known", ["well", "-", "known"]),
        ("-known", ["-known"]),
        ("and/or", ["and/or"]),
        ("10km.", ["10", "km", "."]),
        ("www.a.com/b-c,", ["www.a.com/b-c", ","]),
        ("x):", ["x", ")", ":"]),
        ("'''", ["'", "''"]),
        ("U.S.", ["U.S."]),
        ("...", ["..."]),
        ("\ud800.", ["\ud800."]),
    ],
)
def test_examples(chunk: str, words: list[str]) -> None:
    assert words_of(chunk) == words


def test_words_fill_the_chunks(texts: Callable[..., list[str]]) -> None:
    for text in texts(300, 12, seed=1):
        assert "".join(words_of(text)) == "".join(text.split())


def test_exceptions_are_found() -> None:
    rules = rules_of_english()
    for pieces in read_exceptions():
        chunk = "".join(pieces)
        found = find_exception(encode(f"x{chunk}"), 1, len(chunk) + 1, rules.filter, rules.exceptions)
        assert found >> 8 * (len(pieces) - 1) == len(chunk)
    assert find_exception(encode("word"), 0, 4, rules.filter, rules.exceptions) == 0
    assert find_exception(encode("word"), 2, 2, rules.filter, rules.exceptions) == 0


@pytest.mark.parametrize(
    "text", ["(" * 200_000, "a" * 200_000, "a-" * 100_000 + "a", "5" * 200_000 + "km", "\x00" * 9]
)
def test_long_chunks(text: str) -> None:
    starts, ends = split_chunks(encode(text), rules_of_english())
    assert np.array_equal(starts[1:], ends[:-1])
    assert (starts[0], ends[-1]) == (0, len(text))
