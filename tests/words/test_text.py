"""A text, what is derived from it, and which splitter it gets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.words.text import Measured, Text, encode, split


@given(st.text(st.characters() | st.sampled_from("\x00\ud800😀")))
def test_encode(text: str) -> None:
    codes = encode(text)
    assert codes.dtype == np.uint32
    assert codes.tolist() == [ord(character) for character in text]
    assert codes.flags.writeable


@pytest.mark.parametrize(
    ("text", "language", "setting", "splitter"),
    [
        ("", "", "auto", "plain"),
        ("   ", "", "auto", "plain"),
        ("hello world", "", "auto", "plain"),
        ("été à Paris", "", "auto", "plain"),
        ("你好，世界", "", "auto", "characters"),
        ("你好 wor", "", "auto", "characters"),
        ("你 wonderful world", "", "auto", "plain"),
        ("한국어 문장", "", "auto", "plain"),
        ("hello world", "zh", "auto", "characters"),
        ("你好，世界", "en", "auto", "plain"),
        ("สวัสดี", "tha", "auto", "characters"),
        ("你好，世界", "zh", "plain", "plain"),
        ("hello", "zh", "spacy", "spacy"),
    ],
)
def test_splitter(text: str, language: str, setting: str, splitter: str) -> None:
    assert Text(text, language, words_setting=setting).splitter == splitter  # type: ignore[arg-type]


def test_derived_once() -> None:
    text = Text("a b")
    assert text.codes is text.codes
    assert text.words is text.words


def test_language_drops_the_words() -> None:
    text = Text("你好 world", "en")
    assert len(text.words.starts) == 2
    text.language = "zh"
    assert text.splitter == "characters"
    assert len(text.words.starts) == 3


def test_with_text_keeps_the_rest() -> None:
    text = Text("a", "de", {"url": "x"}, "plain").with_text("b c")
    assert (text.text, text.language, text.metadata, text.words_setting) == (
        "b c",
        "de",
        {"url": "x"},
        "plain",
    )
    assert len(text.words.starts) == 2


@pytest.mark.parametrize("splitter", ["plain", "characters", "spacy"])
@pytest.mark.parametrize("text", ["", " ", "x", "\x00", "\ud800", "a\r\nb", "😀 中"])
def test_words_are_in_order(text: str, splitter: str) -> None:
    words = split(encode(text), splitter)  # type: ignore[arg-type]
    assert words.starts.dtype == words.ends.dtype == np.int32
    bounds = [bound for pair in zip(words.starts, words.ends, strict=True) for bound in pair]
    assert bounds == sorted(bounds)
    assert "".join(text[start:end] for start, end in zip(*words, strict=True)) == "".join(text.split())


def test_measured_holds_the_same_text() -> None:
    text = Text("a")
    assert Measured(text, (1.0,)).text is text
