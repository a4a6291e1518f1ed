"""Formulae end where they end, and their source stays but for labels."""

import pytest

from danlu.latex.formula import display_source, end_of_formula, inline_source, pair_up
from danlu.latex.scan import join_source, scan


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("$a$b", "$a$"),
        ("$a$$b$", "$a$"),
        ("$$a$$b", "$$a$$"),
        ("$$a$b$$", "$$a$b$$"),
        ("$\\text{$x$}y$z", "$\\text{$x$}y$"),
        ("\\(a\\)b", "\\(a\\)"),
        ("\\[a\nb\\]c", "\\[a\nb\\]"),
        ("$a\n\nb$", None),
        ("$a}$", None),
        ("$a", None),
        ("$", None),
        ("\\[a\\)", None),
    ],
)
def test_ends(text, formula):
    tokens = scan(text)
    behind = end_of_formula(tokens, pair_up(tokens), 0, len(tokens))
    assert (join_source(tokens[:behind]) if behind >= 0 else None) == formula


def test_partners_of_braces_and_environments():
    tokens = scan("{{}\\begin{a}\\begin{b}\\end{a}\\end{b}}}")
    assert pair_up(tokens) == [7, 2, 1, 5, -1, 3, -1, 0, -1]


def test_partners_of_brackets_are_in_the_same_group_and_paragraph():
    assert pair_up(scan("[a[b]{]}]")) == [8, -1, 4, -1, 2, 7, -1, 5, 0]
    assert pair_up(scan("[a\n\n]")) == [-1] * 4


def test_sources():
    text = "\\begin{align}\n  a  &= b \\label{eq:1} \\\\\n\n c\\nonumber\n\\end{align}"
    assert display_source(scan(text)) == "\\begin{align}\na &= b \\\\\nc\\nonumber\n\\end{align}"
    assert inline_source(scan("$a\n  b$")) == "$a b$"
