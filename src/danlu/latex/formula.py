r"""Formulae as source: where one ends, and its source without labels.

Decides: `$...$`, `\(...\)`, `$$...$$`, `\[...\]` and AMS environments stand as the paper writes them, macros expanded;
white space within a line is one space, lines of a displayed formula stay lines. A sign without its partner in the same
paragraph and group is no formula. Costs: one reading.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from danlu.latex.scan import Kind, Token, join_source

_CLOSING = {"(": ")", "[": "]"}
_BLANK = re.compile(r"\s+")


def pair_up(tokens: Sequence[Token]) -> list[int]:
    r"""For each brace, bracket, \( and \[, beginning and end of an environment, where its partner is; -1 for all else.

    Brackets and signs of formulae are partners within a group and a paragraph.
    """
    partners = [-1] * len(tokens)
    braces: list[int] = []
    brackets: list[list[int]] = [[]]
    signs: list[list[int]] = [[]]
    begun: list[int] = []
    names: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if token.kind is Kind.OPEN:
            braces.append(place)
            brackets.append([])
            signs.append([])
        elif token.kind is Kind.CLOSE and braces:
            brackets.pop()
            signs.pop()
            _join(partners, braces.pop(), place)
        elif token.kind is Kind.BRACKET and token.text == "[":
            brackets[-1].append(place)
        elif token.kind is Kind.BRACKET and brackets[-1]:
            _join(partners, brackets[-1].pop(), place)
        elif token.kind is Kind.PARAGRAPH or token.kind is Kind.CLOSE:
            brackets[-1].clear()
            signs[-1].clear()
        elif token.kind is Kind.SYMBOL and token.name in _CLOSING:
            signs[-1].append(place)
        elif token.kind is Kind.SYMBOL and signs[-1] and token.name == _CLOSING[tokens[signs[-1][-1]].name]:
            _join(partners, signs[-1].pop(), place)
        elif token.kind is Kind.BEGIN:
            begun.append(place)
            names[token.name] = names.get(token.name, 0) + 1
        elif token.kind is Kind.END and names.get(token.name):
            while begun:
                start = begun.pop()
                names[tokens[start].name] -= 1
                if tokens[start].name == token.name:
                    _join(partners, start, place)
                    break
    return partners


def _join(partners: list[int], start: int, end: int) -> None:
    partners[start], partners[end] = end, start


def end_of_formula(tokens: Sequence[Token], partners: Sequence[int], start: int, end: int) -> int:
    """Where the formula that begins at `start` ends, behind its last token; -1 where it does not before `end`."""
    if tokens[start].kind is Kind.SYMBOL:
        return partners[start] + 1 if start < partners[start] < end else -1
    is_double = start + 1 < end and tokens[start + 1].kind is Kind.MATH
    place = start + 1 + is_double
    while place < end:
        token = tokens[place]
        if token.kind in (Kind.PARAGRAPH, Kind.CLOSE):
            return -1
        if token.kind is Kind.OPEN and partners[place] > place:
            place = partners[place]
        elif token.kind is Kind.MATH:
            if not is_double:
                return place + 1
            if place + 1 < end and tokens[place + 1].kind is Kind.MATH:
                return place + 2
        place += 1
    return -1


def inline_source(tokens: Sequence[Token]) -> str:
    """The source of a formula within a line."""
    return _BLANK.sub(" ", join_source(_without_labels(tokens)))


def display_source(tokens: Sequence[Token]) -> str:
    """The source of a displayed formula: its lines, each without white space around it, none empty."""
    lines = (_BLANK.sub(" ", line).strip() for line in join_source(_without_labels(tokens)).split("\n"))
    return "\n".join(filter(None, lines))


def _without_labels(tokens: Sequence[Token]) -> list[Token]:
    kept: list[Token] = []
    is_label = False
    for token in tokens:
        if is_label:
            is_label = token.kind is not Kind.CLOSE
        elif token.kind is Kind.WORD and token.name == "label":
            is_label = True
        else:
            kept.append(token)
    return kept
