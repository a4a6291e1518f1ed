"""Splitting at white space and by character, against strings."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from danlu.words.classes import ALPHA, SPACE, UNSPACED, table
from danlu.words.plain import split_runs, unspaced_share
from danlu.words.text import encode

ANY_TEXT = st.text(st.characters() | st.sampled_from(" \n\r\t\x1c\u3000a中ไ\x00"), max_size=40)


def words_of(text: str, alone: int) -> list[str]:
    starts, ends = split_runs(encode(text), table(), alone)
    assert starts.dtype == ends.dtype == np.int32
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def reference_characters(text: str) -> list[str]:
    """Each character without spaces between spaces of its own."""
    flags = table()
    return "".join(f" {mark} " if flags[ord(mark)] & UNSPACED else mark for mark in text).split()


@given(ANY_TEXT)
def test_plain(text: str) -> None:
    assert words_of(text, 0) == text.split()


@given(ANY_TEXT)
def test_characters(text: str) -> None:
    assert words_of(text, UNSPACED) == reference_characters(text)


def test_long_word() -> None:
    assert words_of("x" * 200_000 + " y", 0) == ["x" * 200_000, "y"]


def test_lone_surrogate_is_a_character() -> None:
    assert words_of("a\ud800b \udfff", 0) == ["a\ud800b", "\udfff"]


@given(ANY_TEXT)
def test_share(text: str) -> None:
    flags = [int(table()[ord(mark)]) for mark in text]
    letters = sum(flag & (ALPHA | UNSPACED) != 0 for flag in flags)
    unspaced = sum(flag & UNSPACED != 0 for flag in flags)
    assert unspaced_share(encode(text), table()) == (unspaced / letters if letters else 0.0)


def test_flags_do_not_overlap() -> None:
    assert not (table()[table() & UNSPACED != 0] & SPACE).any()
