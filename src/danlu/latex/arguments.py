"""Where the arguments of commands begin and end among the tokens of a paper.

Decides: an optional argument with a blank line in it is text in brackets. Costs: one reading for the partners of all.
"""

from __future__ import annotations

from collections.abc import Sequence

from danlu.latex.formula import pair_up
from danlu.latex.scan import Kind, Token


class Places:
    """The tokens of a paper, and for each brace, bracket and environment where its partner is (`formula.pair_up`)."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = list(tokens)
        self.partners = pair_up(tokens)

    def begins_group(self, place: int) -> bool:
        """Whether a brace opens here that is closed."""
        return self.tokens[place].kind is Kind.OPEN and self.partners[place] > place

    def skip_space(self, place: int, end: int) -> int:
        """Where the first token that is no white space is."""
        while place < end and self.tokens[place].kind is Kind.SPACE:
            place += 1
        return place

    def option_end(self, start: int, end: int) -> int:
        """Behind an optional argument that begins at `start`, or `start` where there is none."""
        place = self.skip_space(start, end)
        is_option = (
            place < end and self.tokens[place].kind is Kind.BRACKET and place < self.partners[place] < end
        )
        return self.partners[place] + 1 if is_option else start

    def group(self, start: int, end: int) -> tuple[int, int, int]:
        """An argument that begins at `start`: where its text begins, where it ends, where to go on."""
        place = self.skip_space(start, end)
        if place >= end:
            return start, start, start
        if self.begins_group(place):
            return place + 1, self.partners[place], self.partners[place] + 1
        token = self.tokens[place]
        is_one = token.kind is Kind.TEXT or token.kind is Kind.WORD
        return (place, place + 1, place + 1) if is_one else (start, start, start)
