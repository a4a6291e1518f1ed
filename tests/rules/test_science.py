"""Formulae of TeX: found, blanked in place, never found in prices, shells and templates; and the rules for papers."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.rules import science
from danlu.rules.science import blank, formula_spans, mask_formulae
from danlu.rules.settings import Science
from danlu.words.text import Text


def formulae(text):
    return [text[start:end] for start, end in formula_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Let $x^2$ and $k$-NN, the $n$th.", ["$x^2$", "$k$", "$n$"]),
        ("设$x$为整数，则$x+1$也是。", ["$x$", "$x+1$"]),
        ("$$a\n= b$$ then \\(c\\) and \\[d\\]", ["$$a\n= b$$", "\\(c\\)", "\\[d\\]"]),
        ("\\begin{align*}x&=1\\\\[2pt]\\end{align*}", ["\\begin{align*}x&=1\\\\[2pt]\\end{align*}"]),
        ("a ${\\bf x}$ b", ["${\\bf x}$"]),
        ("$a\\$b$", ["$a\\$b$"]),
        ("$a$$b$", ["$a$"]),
    ],
)
def test_formulae_are_found(text, expected):
    assert formulae(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "$",
        "$$",
        "$$$$",
        "It costs $5 or US$6, $7-$8 in all.",
        "${name} and ${other}",
        "$a $b",
        "\\$x$ y",
        "$x\n\ny$",
        "$$x\n \ny$$",
        "line one\\\\[2pt] line two\\]",
        "\\begin{equation}x",
        "\\begin{itemize}x\\end{itemize}",
        "$(document).ready(function () { $('a').click() })",
        "$" + "a" * 2000 + "$",
        "\\[" + "a" * 30_000 + "\\]",
    ],
)
def test_what_is_no_formula(text):
    assert formulae(text) == []


PIECES = st.sampled_from(
    ["$", "$$", "\\", "\\(", "\\)", "\\[", "\\]", "\\begin{math}", "\\end{math}", "a", "1", " "]
)
TEXTS = st.lists(PIECES | st.sampled_from(["\n", "\n\n", "{", "}", "字", "\ud800", "\0"]), max_size=40).map(
    "".join
)


@given(TEXTS)
def test_spans_are_in_order_and_blanking_keeps_length_and_lines(text):
    spans = formula_spans(text)
    assert all(start < end for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    blanked = blank(text, spans)
    assert len(blanked) == len(text)
    assert list(map(len, blanked.splitlines())) == list(map(len, text.splitlines()))
    assert blanked.replace(" ", "") == "".join(
        character
        for index, character in enumerate(text)
        if character == "\n" or not any(start <= index < end for start, end in spans)
    ).replace(" ", "")


@given(TEXTS)
def test_delimiters_belong_together(text):
    for formula in formulae(text):
        assert re.fullmatch(
            r"\$\$.+\$\$|\$[^\s].*\$|\\\(.+\\\)|\\\[.+\\\]|\\begin\{math\}.+\\end\{math\}", formula, re.DOTALL
        )
        assert "\n\n" not in formula


@pytest.mark.parametrize(
    "unit", ["$", "$a", "$ ", "\\(", "\\[a\n\n", "$$a", "\\begin{align}", "$\\", "$(\n "]
)
def test_hostile_text_is_read_in_linear_time(unit):
    formula_spans(unit * 50_000)  # quadratic behaviour would take hours


def test_a_text_without_formulae_is_the_same_object():
    text = Text("no formula, $5")
    assert mask_formulae(text) is text


def test_masked_text_keeps_language_and_metadata():
    masked = mask_formulae(Text("let $x$ be", "en", {"url": "u"}))
    assert (masked.text, masked.language, masked.metadata) == ("let     be", "en", {"url": "u"})


PAPER = "\n\n".join(
    " ".join(
        f"word{chr(97 + (paragraph + index) % 26)}q".replace("word", "on" * (index % 5))
        for index in range(120)
    )
    for paragraph in range(6)
)


def measured(text):
    return dict(zip(science.MEASURES, science.measure(Text(text), Science()).values, strict=True))


def test_measures():
    values = measured("the cat $x_1$ the\n\n2 3 $$y\nz$$\n \n\nend")
    assert values == pytest.approx(
        {
            "words": 6,
            "paragraphs": 3,
            "top_word_share": 2 / 6,
            "alphabetic_top_word": 1,
            "formula_share": 12 / 37,
        }
    )
    assert measured("") == dict.fromkeys(science.MEASURES, 0.0)


def outcome(text, **settings):
    rules = Science(**settings)
    return science.decide(science.measure(Text(text), rules).values, rules)


def test_decisions():
    assert outcome(PAPER) == ""
    assert outcome(PAPER[:1000]) == "short"
    assert outcome(PAPER.replace("\n\n", "\n")) == "few_paragraphs"
    assert outcome(PAPER + " the" * 100) == "top_word"
    assert outcome("1 2 " * 5, min_words=0, min_paragraphs=0, max_top_word_share=1.0) == "top_word"
    assert (
        outcome("1 2 " * 5, min_words=0, min_paragraphs=0, max_top_word_share=1.0, alphabetic_top_word=False)
        == ""
    )
    assert outcome("$" + "x" * 50 + "$ is x") == "formulae"


def test_formulae_are_no_words():
    assert outcome(PAPER + " $a b c$" * 2000, max_formula_share=1.0) == ""
