"""Tokens waiting to be read, with what macros expand to pushed in front, and the arguments of commands taken off.

Decides how an argument is read (The TeXbook, chapter 20): a group without its braces, or else one token, of text its
first character. Guarantees: what is pushed costs a budget that grows with the source, so that no macro makes more than
a fixed multiple of it; nothing recurses. Costs: one list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from danlu.latex.scan import Kind, Token

_COST = 1
_EXPANSION_COST = 8
"""What a token costs beside its characters, and an expansion beside its tokens."""
_BLANK = (Kind.SPACE, Kind.PARAGRAPH)


class Stream:
    """Tokens in the order in which they are read; `budget` in characters is what may still be pushed."""

    def __init__(self, budget: int) -> None:
        self._waiting: list[Token] = []
        self._active: Counter[str] = Counter()
        self.budget = budget

    def next(self) -> Token | None:
        """The next token, None at the end."""
        while self._waiting:
            token = self._waiting.pop()
            if token.kind is not Kind.MARK:
                return token
            self._active[token.name] -= 1
        return None

    def peek(self) -> Token | None:
        """What `next` would return, left where it is."""
        token = self.next()
        if token is not None:
            self._waiting.append(token)
        return token

    def put_back(self, tokens: Sequence[Token]) -> None:
        """Tokens that were just taken off are to be read again; they cost as much as pushed ones."""
        self.budget -= sum(len(token.text) + _COST for token in tokens)
        self._waiting += reversed(tokens)

    def push(self, tokens: Sequence[Token], name: str) -> bool:
        """Reads tokens first, which the macro or file `name` expands to; False and nothing past the budget."""
        cost = _EXPANSION_COST + sum(len(token.text) + _COST for token in tokens)
        if cost > self.budget:
            return False
        self.budget -= cost
        self._waiting.append(Token(Kind.MARK, "", name))
        self._active[name] += 1
        self._waiting += reversed(tokens)
        return True

    def depth(self, name: str) -> int:
        """How many expansions of a macro, or readings of a file, are still being read."""
        return self._active[name]

    def skip_blank(self) -> None:
        """Takes off white space and ends of paragraphs."""
        while (token := self.peek()) and token.kind in _BLANK:
            self.next()

    def argument(self) -> list[Token]:
        """A group without its braces, or one token; empty at the end or before the end of a group around it."""
        self.skip_blank()
        token = self.peek()
        if token is None or token.kind is Kind.CLOSE:
            return []
        self.next()
        if token.kind is Kind.TEXT and len(token.text) > 1:
            self._waiting.append(token._replace(text=token.text[1:]))
            return [token._replace(text=token.text[0])]
        return self._group() if token.kind is Kind.OPEN else [token]

    def _group(self) -> list[Token]:
        """What follows up to the brace that closes, which is taken off too."""
        tokens: list[Token] = []
        level = 1
        while token := self.next():
            level += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
            if not level:
                break
            tokens.append(token)
        return tokens

    def bracket(self) -> list[Token] | None:
        """An optional argument in square brackets without them, or None where there is none."""
        blank: list[Token] = []
        while (token := self.peek()) and token.kind is Kind.SPACE:
            blank += [token]
            self.next()
        if token is None or token.kind is not Kind.BRACKET or token.text != "[":
            self._waiting += reversed(blank)
            return None
        self.next()
        found = self.until([Token(Kind.BRACKET, "]")])
        if found is None:
            self._waiting.append(token)
        return found

    def until(self, ending: Sequence[Token]) -> list[Token] | None:
        """What stands before a sequence of tokens outside of groups, which is taken off too.

        None, and nothing is taken off, where the sequence does not come in this group, or the budget is spent.
        """
        if self.budget <= 0:
            return None
        tokens: list[Token] = []
        level = 0
        while token := self._piece(ending[0]):
            level += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
            tokens.append(token)
            last = tokens[-len(ending) :]
            if level == 0 and [(t.kind, t.text) for t in last] == [(t.kind, t.text) for t in ending]:
                return tokens[: -len(ending)]
            if level < 0:
                break
        self.put_back(tokens)
        return None

    def _piece(self, ending: Token) -> Token | None:
        """The next token; a text is cut so that an ending within it is a token of its own."""
        token = self.next()
        if token is None or token.kind is not Kind.TEXT or ending.kind is not Kind.TEXT:
            return token
        place = token.text.find(ending.text)
        place = len(ending.text) if place == 0 else place
        if not 0 < place < len(token.text):
            return token
        self._waiting.append(token._replace(text=token.text[place:]))
        return token._replace(text=token.text[:place])
