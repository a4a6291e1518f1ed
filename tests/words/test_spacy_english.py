"""The exact splitter against spaCy itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from danlu.words.english_rules import read_exceptions
from danlu.words.spacy_english import rules_of_english, split_english
from danlu.words.text import encode

PROSE = """Dr. Smith's (U.S.) e-mail, "dr.smith@example.com", isn't at http://example.com/a?b=c — it's
\tat 10.5km/h…  She said: 'We'll go!' and/or :-) don't;  it cost US$5.00 (£4.20) or 5€, i.e. 10%.
    def f(x): return x[0] == "a.b" if x != {} else -1  # see PEP-8, §3.2
- 20°C. 3/4" pipe; A.B.C. vs. a.b.c.; 12/31/1999; 4,000,000; C++ <b>bold</b> <3 ...and so on..
Ünïcödé naïve café: 你好，世界。 Привет, мир! 한국어 문장. हिन्दी। 😀👍🏽 ¯\\(ツ)/¯ (╯°□°）╯︵┻━┻
"""


def words_of(text: str) -> list[str]:
    return [text[start:end] for start, end in zip(*split_english(encode(text)), strict=True)]


def reference(pipeline: Any, text: str) -> list[str]:
    """The words that the published filters get: tokens stripped, empty ones left out."""
    with pipeline.memory_zone():
        stripped = [token.text.strip() for token in pipeline.tokenizer(text)]
        return [word for word in stripped if word]


def test_prose(spacy_english: Any) -> None:
    assert words_of(PROSE) == reference(spacy_english, PROSE)


def test_made_texts(spacy_english: Any, texts: Callable[..., list[str]]) -> None:
    for text in texts(1500, 20, seed=2):
        assert words_of(text) == reference(spacy_english, text), text


def test_exceptions_in_their_surroundings(spacy_english: Any) -> None:
    frames = ("{}", "({}", "{})", "({}),", "x{}", "{}x", "{}.", "'{}'", "{} {}", "{}{}", "{}-x")
    text = "\n".join(
        frame.format(chunk, chunk) for chunk in map("".join, read_exceptions()) for frame in frames
    )
    assert words_of(text) == reference(spacy_english, text)


@settings(max_examples=300, deadline=None)
@given(
    text=st.text(
        st.characters(exclude_categories=["Cs"]) | st.sampled_from("abzAZ059 .,:;-'’)(/\n$°…@=<>~+*^"),
        max_size=60,
    )
)
def test_any_text(spacy_english: Any, text: str) -> None:
    assert words_of(text) == reference(spacy_english, text)


@pytest.mark.parametrize("text", ["", " ", "\n", "a", "\r\n", "\x00", "x" * 200_000, "😀", "中", "IS_ALPHA"])
def test_edges(spacy_english: Any, text: str) -> None:
    assert words_of(text) == reference(spacy_english, text)


def test_surrogates_are_characters() -> None:
    assert words_of("a\ud800b (\udfff)") == ["a\ud800b", "(", "\udfff", ")"]


def test_rules_are_made_once() -> None:
    assert rules_of_english() is rules_of_english()
