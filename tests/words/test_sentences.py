"""Sentences against spaCy's sentencizer, and the plain rule by example and by a slow reference."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.words.classes import TERMINAL_MARKS
from danlu.words.sentences import CLOSERS, WIDE_MARKS, count_span_sentences, sentence_ends
from danlu.words.text import Text


def spacy_ends(pipeline: Any, text: str) -> list[int]:
    """As the published splitter ends them: the last one at the end of the text, and at least one."""
    with pipeline.memory_zone():
        ends = [sentence.end_char for sentence in pipeline(text).sents] if text else []
    return [*ends[:-1], len(text)]


def test_exact(spacy_english: Any, texts: Callable[..., list[str]]) -> None:
    fixed = [
        "",
        " ",
        "\n",
        ".",
        ". ",
        ".\n",
        "A. B",
        "A.\nB",
        "A.  B",
        "A.) B?! C",
        "a。b",
        "Mr. X. ",
        "x. 。 y",
        "A. \n",
    ]
    for text in fixed + texts(700, 15, seed=3):
        ends = sentence_ends(Text(text, words_setting="spacy"))
        assert ends.tolist() == spacy_ends(spacy_english, text), text


def spans_of_lines(text: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    lines = list(re.finditer(r"[^\n]+", text))
    begins = np.array([line.start() for line in lines], np.int32)
    return begins, np.array([line.end() for line in lines], np.int32)


@pytest.mark.parametrize("setting", ["spacy", "plain"])
def test_spans_by_themselves(texts: Callable[..., list[str]], setting: str) -> None:
    for text in ["", "A. B.\nC\n\nD. E. ", *texts(200, 40, seed=4)]:
        begins, ends = spans_of_lines(text)
        whole = Text(text, words_setting=setting)  # type: ignore[arg-type]
        counts = count_span_sentences(whole, begins, ends)
        alone = [
            sentence_ends(whole.with_text(text[begin:end])).size
            for begin, end in zip(begins, ends, strict=True)
        ]
        assert counts.tolist() == alone, text


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", [""]),
        ("no mark", ["no mark"]),
        ("One. Two.", ["One.", " Two."]),
        ("3.14 is it?! Yes.\n", ["3.14 is it?!", " Yes.\n"]),
        ('He said "no." Then left...', ['He said "no."', " Then left..."]),
        ("你好。世界！（是？）好", ["你好。", "世界！", "（是？）", "好"]),
        ("one . . . two", ["one . . .", " two"]),
        ("।क। ख", ["।क।", " ख"]),
    ],
)
def test_plain_examples(text: str, sentences: list[str]) -> None:
    ends = [0, *sentence_ends(Text(text, words_setting="plain")).tolist()]
    assert [text[start:end] for start, end in itertools.pairwise(ends)] == sentences


def reference_plain(text: str) -> list[int]:
    """By regular expression: a mark with what closes after it, at white space or behind a wide mark."""
    marks = re.escape("".join(set(TERMINAL_MARKS + WIDE_MARKS)))
    groups = re.finditer(f"[{marks}][{marks}{re.escape(CLOSERS)}]*", text)
    ends = []
    for group in groups:
        following = text[group.end() :]
        wide = any(mark in WIDE_MARKS for mark in group.group())
        if (wide or following[:1].isspace()) and following.strip():
            ends.append(group.end())
    kept = [
        end for end, later in zip(ends, [*ends[1:], None], strict=False) if not only_marks(text, end, later)
    ]
    return [*kept, len(text)]


def only_marks(text: str, end: int, later: int | None) -> bool:
    """Whether nothing but marks stands between one end and the next one, or the end of the text."""
    between = "".join(text[end:later].split())
    return bool(
        re.fullmatch(f"([{re.escape(TERMINAL_MARKS)}][{re.escape(TERMINAL_MARKS + CLOSERS)}]*)*", between)
    )


@given(st.text(st.sampled_from('ab .!?。")）\n。！'), max_size=25))
def test_plain_rule(text: str) -> None:
    assert sentence_ends(Text(text, words_setting="plain")).tolist() == reference_plain(text)
