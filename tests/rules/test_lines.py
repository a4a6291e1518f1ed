"""Lines: their ends, their white space, their words and their citations, against Python's own."""

import re

import numpy as np
import pytest
from hypothesis import given

import published_rules
from danlu.rules.lines import (
    copy_line,
    ends_in_dots,
    line_end,
    measure_words,
    next_line,
    other_digits,
    strip_span,
)
from danlu.words.classes import table
from danlu.words.text import encode

NONE = np.empty(0, np.bool_)


def without_citations(text: str, formula: np.ndarray = NONE) -> tuple[str, bool]:
    output = np.zeros(len(text) + 3, np.uint32)
    end, has_curly = copy_line(encode(text), table(), other_digits(), formula, 0, len(text), True, output, 3)
    return "".join(map(chr, output[3:end])), has_curly


@given(published_rules.TEXTS)
def test_lines_are_those_of_splitlines(text):
    codes, start, lines = encode(text), 0, []
    while start < len(text):
        stop = line_end(codes, table(), start)
        lines.append(text[start:stop])
        start = next_line(codes, stop)
    assert lines == text.splitlines()


@given(published_rules.TEXTS)
def test_spans_and_words_are_those_of_strings(text):
    codes = encode(text)
    start, end = strip_span(codes, table(), 0, len(text))
    assert text[start:end] == text.strip()
    lengths = list(map(len, text.split()))
    assert measure_words(codes, table(), 0, len(text)) == (len(lengths), max(lengths, default=0))
    assert ends_in_dots(codes, 0, len(text)) == text.endswith("...")


@given(published_rules.TEXTS)
def test_citations_go_as_by_the_published_pattern(text):
    expected = re.sub(r"\[\d*]|\[edit]|\[citation needed]", "", text)
    assert without_citations(text) == (expected, "{" in text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a[12]b", "ab"),
        ("[[1]]", "[]"),
        ("[1", "[1"),
        ("[edit", "[edit"),
        ("[Edit]", "[Edit]"),
        ("[1[2]]", "[1]"),
        ("x[²]", "x[²]"),
        ("x[٣]", "x"),
    ],
)
def test_citations(text, expected):
    assert without_citations(text)[0] == expected


def test_citations_and_brackets_in_formulae_stay():
    text = "a $x[1]{2}$ [1]"
    inside = np.array([2 <= place < 11 for place in range(len(text))])
    assert without_citations(text, inside) == ("a $x[1]{2}$ ", False)


def test_other_digits_are_those_that_patterns_do_not_take():
    assert {chr(code) for code in other_digits()} == {
        chr(code) for code in range(0x20000) if chr(code).isdigit() and not re.fullmatch(r"\d", chr(code))
    }
