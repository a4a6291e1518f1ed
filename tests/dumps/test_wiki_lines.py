"""Marked lines to paragraphs, and the gaps of what was dropped."""

import sys

import pytest

from danlu.dumps.wiki_lines import BREAK, DROPPED, KEPT, LIST, tidy, to_paragraphs

X = DROPPED


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (f"Lima ({X}; b. 1) x", "Lima (b. 1) x"),
        (f"Lima ({X}) x", "Lima x"),
        (f"Lima ({X}, {X}; ) x", "Lima x"),
        (f"Lima (a; {X}) x", "Lima (a) x"),
        (f"f() and ( ) {X}", "f() and ( )"),
        (f"a {X}, b", "a, b"),
        (f"a, {X}, b", "a, b"),
        (f"a {X} b", "a b"),
        (f"a{X}b", "ab"),
        (f"a {X}.", "a."),
        (f"{X} a", "a"),
        (f"a{X}{X}", "a"),
        (f"盐（{X}，别名）和（{X}）", "盐（别名）和"),
        ("a , b ; c", "a , b ; c"),
        ("'''a''' b's ''c''", "a b's c"),
        ("a \t\xa0 b", "a b"),
        ("", ""),
    ],
)
def test_gaps(line, shown):
    assert tidy(line) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\n\nc", "a b\n\nc"),
        (f"a\n{X}\nb", "a\n\nb"),
        (f"{LIST}*a\n{LIST}*{LIST}*b\n{LIST}#c\n{LIST}#d\n{LIST}#{LIST}#e\n{LIST}#f",
         "- a\n  - b\n1. c\n2. d\n  1. e\n3. f"),
        (f"{LIST}#a\n\n{LIST}#b", "1. a\n\n1. b"),
        (f"{LIST}*{X}\n{LIST}*a", "- a"),
        (f"{LIST}:a\n{LIST}:{LIST}:b", "a\nb"),
        (f"{LIST};a{LIST}:b", "a: b"),
        (f"p\n{LIST}*a\nq", "p\n\n- a\n\nq"),
        (" code\n  more\n\nprose", "code\n more\n\nprose"),
        (f"{X} prose", "prose"),
        ("{| x\n|-\n| a\n|}\nb", "b"),
        (f"a {BREAK} b", "a\nb"),
        (f"a {KEPT}0{KEPT} b", "a  k\n b"),
        ("__NOTOC__a __x__", "a __x__"),
        ("a<ref name=x>b<br>c</ref>d</div><ref/>", "ad"),
        ("a < b > c <ref", "a < b > c <ref"),
        ("", ""),
    ],
)  # fmt: skip
def test_paragraphs(text, shown):
    assert to_paragraphs(text, [" k\n"]) == shown


def steps(function, *given):
    """How many calls, lines and calls into C a function makes."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += 1
        return trace

    sys.settrace(trace)
    try:
        function(*given)
    finally:
        sys.settrace(None)
    return count


@pytest.mark.parametrize(
    "piece", ["(", f"({X}", X, f"a {X}, ", ";", "<ref>", "<ref", "'", LIST + "*", "\n", "\n|", "(;"]
)
def test_the_work_is_linear(piece):
    short, long = (steps(to_paragraphs, piece * count, []) for count in (2000, 4000))
    assert long < 2.2 * short + 100
    assert len(to_paragraphs(piece * 200_000, [])) <= 200_000 * len(piece)
