"""Simplified text and hashes against slow references."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.words.classes import PUNCTUATION_MARKS
from danlu.words.hashes import hash_span
from danlu.words.shingles import ngram_hashes, simplifier, simplify, word_hashes
from danlu.words.text import Text, encode

TO_SPACES = str.maketrans(dict.fromkeys(PUNCTUATION_MARKS, " "))
COMBINING = "\u0301\u0327\u094d\ua9c0\u1b44\U0001d165\U0001d16d\u302e\u302f\u1b35\u1b3b\U0001d15f"


def reference(text: str) -> str:
    """The published steps, one after the other."""
    text = re.sub(r"\d+([.,،٫⎖⎗⎘]\d+)?", "0", text.lower()).translate(TO_SPACES)
    text = unicodedata.normalize("NFD", re.sub(r"\s+", " ", text.strip()))
    return "".join(character for character in text if unicodedata.category(character) != "Mn").strip()


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("", ""),
        (" \n\t", ""),
        ("Hello, World!", "hello world"),
        ("1.2.3 and 10,000.5", "0 0 and 0 0"),
        ("Ünï-cödé  naïve", "uni code naive"),
        ("１２ ٣٫٤", "0 0"),
        ("한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),
        ("a \u0301 b", "a  b"),
        ("İΣ", "iς"),
        ("\ud800 x\x00y", "\ud800 x y"),
        ("x" * 200_000, "x" * 200_000),
    ],
)
def test_examples(text: str, simple: str) -> None:
    assert simplify(text) == simple == reference(text)


@given(st.text(st.characters() | st.sampled_from("aé1.,٫ \n-" + COMBINING), max_size=30))
def test_any_text(text: str) -> None:
    assert simplify(text) == reference(text)


@given(st.text(st.sampled_from("e" + COMBINING), max_size=8))
def test_marks_that_change_places(text: str) -> None:
    assert simplify(text) == reference(text)


def test_every_code_point() -> None:
    for start in range(0, 0x110000, 1000):
        text = " ".join(f"a{chr(code)}b" for code in range(start, min(start + 1000, 0x110000)))
        assert simplify(text) == reference(text)


def test_tables_are_made_once() -> None:
    assert simplifier() is simplifier()


def test_word_hashes() -> None:
    text = Text("one two one 中")
    hashes = word_hashes(text.codes, text.words)
    assert hashes.dtype == np.uint64
    assert hashes.tolist() == [hash_span(encode(word), 0, len(word)) for word in text.text.split()]


@pytest.mark.parametrize("n", [1, 2, 5, 13])
@pytest.mark.parametrize("count", [0, 1, 4, 5, 200])
def test_ngrams_are_equal_where_the_words_are(n: int, count: int) -> None:
    hashes = np.random.default_rng(n).integers(0, 3, count).astype(np.uint64) + np.uint64(1 << 63)
    runs = ngram_hashes(hashes, n).tolist()
    assert len(runs) == max(count - n + 1, 0)
    words = [tuple(hashes[start : start + n].tolist()) for start in range(len(runs))]
    assert len(set(runs)) == len(set(words)) == len(set(zip(runs, words, strict=True)))


def test_ngram_of_a_text_is_the_same_anywhere() -> None:
    hashes = np.arange(1, 12, dtype=np.uint64)
    assert ngram_hashes(hashes, 4)[6] == ngram_hashes(hashes[6:].copy(), 4)[0]
    assert ngram_hashes(hashes, 4)[0] != ngram_hashes(hashes[::-1].copy(), 4)[-1]
