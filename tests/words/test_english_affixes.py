"""Prefixes, suffixes and what stands inside, against spaCy's regular expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from danlu.words.english_affixes import infix_length, prefix_length, suffix_length
from danlu.words.spacy_english import rules_of_english
from danlu.words.text import encode

EDGES = [
    "",
    "+",
    "+5",
    "5+",
    ".",
    "..",
    "a.",
    "A.",
    "AB.",
    "°C.",
    "C.",
    "a……",
    "5اكواب",
    "m\x00",
    "5m\x00",
    "5€",
]


def chunks(texts: Callable[..., list[str]]) -> list[str]:
    return EDGES + texts(1500, 4, spaces=False)


def test_prefix(spacy_english: Any, texts: Callable[..., list[str]]) -> None:
    flags = rules_of_english().flags
    for chunk in filter(None, chunks(texts)):
        expected = spacy_english.tokenizer.find_prefix(chunk)
        assert prefix_length(encode(chunk), 0, len(chunk), flags) == expected, chunk


def test_suffix(spacy_english: Any, texts: Callable[..., list[str]]) -> None:
    rules = rules_of_english()
    for chunk in chunks(texts):
        has_digit = any(mark in "0123456789" for mark in chunk)
        found = suffix_length(encode(chunk), 0, len(chunk), rules.flags, rules.tails, has_digit)
        assert found == spacy_english.tokenizer.find_suffix(chunk), chunk


def infixes(chunk: str) -> list[tuple[int, int]]:
    """Where the words inside a chunk start and end."""
    found = []
    position = 0
    while position < len(chunk):
        length = infix_length(encode(chunk), position, 0, len(chunk), rules_of_english().flags)
        if length:
            found.append((position, position + length))
        position += max(length, 1)
    return found


def test_infixes(spacy_english: Any, texts: Callable[..., list[str]]) -> None:
    for chunk in chunks(texts):
        assert infixes(chunk) == [match.span() for match in spacy_english.tokenizer.find_infix(chunk)], chunk


@pytest.mark.parametrize(
    "mark", ["-", "--", "---", "----", "–", "——", "———", "~", ",", "..", "…", "/", "=", "^"]
)
def test_infixes_between(spacy_english: Any, mark: str) -> None:
    for before in "aZ5中 é.":
        for after in "aZ5中-é":
            chunk = before + mark + after
            assert infixes(chunk) == [match.span() for match in spacy_english.tokenizer.find_infix(chunk)], (
                chunk
            )
