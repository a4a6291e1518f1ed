r"""LaTeX source to tokens: control words, groups, formula signs, environments, text; comments are gone.

Decides what TeX's own reader decides (Knuth, The TeXbook, chapters 7 and 8): white space behind a control word is
skipped, a blank line ends a paragraph, a comment takes its line end and the indent of the next line. What is printed
as it stands (`verbatim`, `lstlisting`, `\verb`, `\url`) is one token; `comment` and `filecontents` are none.
Guarantees: the tokens' sources in a row mean the same as the text; linear time whatever the text is. Costs: 1.2 MB/s.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from enum import IntEnum
from typing import NamedTuple

from danlu.latex.vocabulary import load_vocabulary


class Kind(IntEnum):
    """What a token is."""

    TEXT = 0
    SPACE = 1
    PARAGRAPH = 2
    WORD = 3
    SYMBOL = 4
    OPEN = 5
    CLOSE = 6
    BRACKET = 7
    MATH = 8
    TIE = 9
    ALIGN = 10
    PARAMETER = 11
    BEGIN = 12
    END = 13
    VERBATIM = 14
    INLINE = 15
    """Code or an address within a line."""
    MARK = 16
    """The end of a macro's expansion, or of an included file; never scanned, never printed."""


class Token(NamedTuple):
    r"""One token: `text` is its source, `name` what it names (of `\alpha*` alpha), `after` skipped white space."""

    kind: Kind
    text: str
    name: str = ""
    after: str = ""


_OPTIONS = re.compile(r"[ \t]*(?:\[[^\]\n]*\][ \t]*)?(?:\{[^{}\n]*\}[ \t]*)?\n")
"""What follows the beginning of a listing on its line; it must take the whole line, or it is code."""
_DECLARED = re.compile(
    r"\\(?:lstnewenvironment|DefineVerbatimEnvironment|newminted)\s{0,9}(?:\[(\w{1,40})\])?\s{0,9}\{(\w{1,40})\}"
)
_SKIPPED = r"[ \t]*(?:\n(?![ \t]*\n)[ \t]*)?"
_RULES = r"""
    (?P<text>[^\\{}$&\#~% \t\n\f\v\[\]]{1,500})
  | (?P<space>[ \t\n\f\v]+)
  | (?P<comment>%[^\n]*(?:\n[ \t]*(?P<blank>\n[ \t\n\f\v]*)?)?)
  | (?P<begin>\\begin[ \t]*\{(?P<begun>[^{}\\$%\n]{0,80})\})
  | (?P<end>\\end[ \t]*\{(?P<ended>[^{}\\$%\n]{0,80})\})
  | (?P<verb>\\(?:verb|lstinline(?:\[[^\]\n]{0,200}\])?|mintinline(?:\{\w{1,40}\})?)
       \*?(?:(?P<bar>[^\s\w*{\\])(?P<code>[^\n]{0,400}?)(?P=bar)|\{(?P<braced>[^{}\n]{0,400})\}))
  | (?P<url>\\(?:url|nolinkurl|path)[ \t]*\{(?P<address>[^{}\n]{0,2000})\})
  | (?P<href>\\href[ \t]*\{[^{}\n]{0,2000}\})
  | (?P<word>\\(?P<name>LETTERS+)\*?)(?P<after>SKIPPED)
  | (?P<break>\\\\\*?(?:[ ]?\[[ \t]*-?[0-9.]*[ \t]*(?:[a-z]{2}|\\[a-zA-Z]{1,40})[ \t]*\])?)
  | (?P<symbol>\\[^a-zA-Z\\]?)
  | (?P<open>\{) | (?P<close>\}) | (?P<bracket>[\[\]]) | (?P<math>\$) | (?P<tie>~) | (?P<align>&)
  | (?P<parameter>\#+[1-9]?)
"""
_PLAIN = re.compile(_RULES.replace("LETTERS", "[a-zA-Z]").replace("SKIPPED", _SKIPPED), re.VERBOSE)
_WITH_AT = re.compile(_RULES.replace("LETTERS", "[a-zA-Z@]").replace("SKIPPED", _SKIPPED), re.VERBOSE)
_SINGLE = {
    "open": Kind.OPEN,
    "close": Kind.CLOSE,
    "bracket": Kind.BRACKET,
    "math": Kind.MATH,
    "tie": Kind.TIE,
    "align": Kind.ALIGN,
    "text": Kind.TEXT,
}
_A_SPACE = Token(Kind.SPACE, " ")
_A_PARAGRAPH = Token(Kind.PARAGRAPH, "\n\n")


def declared_verbatim(text: str) -> frozenset[str]:
    """The environments that a source declares for code of its own."""
    return frozenset(match[1] or match[2] for match in _DECLARED.finditer(text))


def scan(text: str, verbatim: Collection[str] = (), at_is_letter: bool = False) -> list[Token]:
    r"""The tokens of a source. `at_is_letter`: from the beginning, as in a style file, not from \makeatletter on."""
    return _Scanner(text.replace("\r\n", "\n").replace("\r", "\n"), verbatim, at_is_letter).run()


class _Scanner:
    def __init__(self, text: str, verbatim: Collection[str], at_is_letter: bool) -> None:
        self._text = text
        self._unprinted = load_vocabulary().groups["unprinted"]
        self._verbatim = load_vocabulary().groups["verbatim"].union(verbatim)
        self._rules = _WITH_AT if at_is_letter else _PLAIN
        self._endless: set[str] = set()
        self._has_ended = False
        self._tokens: list[Token] = []

    def run(self) -> list[Token]:
        place, tokens = 0, self._tokens
        while place < len(self._text) and not self._has_ended:
            match = self._rules.match(self._text, place)
            assert match, "every character begins a token"
            place = match.end()
            group = match.lastgroup or ""
            # A named group inside another closes before it, so lastgroup is always the outer one.
            if group in _SINGLE:
                tokens.append(Token(_SINGLE[group], match[0]))
            elif group == "space":
                tokens.append(_A_PARAGRAPH if match[0].count("\n") > 1 else Token(Kind.SPACE, match[0]))
            elif group == "begin":
                place = self._begin(match)
            else:
                self._other(group, match)
        return tokens

    def _other(self, group: str, match: re.Match[str]) -> None:
        if group == "after":
            self._word(match)
        elif group == "comment":
            self._tokens += [_A_PARAGRAPH] if match["blank"] else []
        elif group == "end":
            self._tokens.append(Token(Kind.END, match[0], match["ended"].strip()))
        elif group == "verb":
            code = match["braced"] if match["code"] is None else match["code"]
            self._tokens.append(Token(Kind.INLINE, code, "verb"))
        elif group == "url":
            self._tokens.append(Token(Kind.INLINE, match["address"].strip(), "url"))
        elif group == "break":
            self._tokens.append(Token(Kind.SYMBOL, match[0], "\\"))
        elif group == "symbol":
            self._tokens.append(Token(Kind.SYMBOL, match[0], match[0][1:]))
        elif group == "parameter":
            is_one = match[0][-1] != "#"
            self._tokens.append(
                Token(Kind.PARAMETER if is_one else Kind.TEXT, match[0], match[0].lstrip("#"))
            )

    def _word(self, match: re.Match[str]) -> None:
        if match["name"] == "endinput":
            self._has_ended = True
        elif match["name"] == "makeatletter":
            self._rules = _WITH_AT
        elif match["name"] == "makeatother":
            self._rules = _PLAIN
        else:
            self._tokens.append(Token(Kind.WORD, match["word"], match["name"], match["after"]))

    def _begin(self, match: re.Match[str]) -> int:
        """Where to go on behind the beginning of an environment, or behind its end where it is code."""
        name = match["begun"].strip()
        is_code = name in self._verbatim
        if (is_code or name in self._unprinted) and name not in self._endless:
            ending = f"\\end{{{name}}}"
            end = self._text.find(ending, match.end())
            if end >= 0:
                if is_code:
                    options = _OPTIONS.match(self._text, match.end(), end)
                    code = self._text[options.end() if options else match.end() : end]
                    self._tokens.append(Token(Kind.VERBATIM, code, name))
                return end + len(ending)
            # Looked for once: each further beginning would read to the end again.
            self._endless.add(name)
        self._tokens.append(Token(Kind.BEGIN, match[0], name))
        return match.end()


def join_source(tokens: Sequence[Token]) -> str:
    r"""Tokens back to source, with a space where a letter would lengthen the control word before it."""
    parts: list[str] = []
    needs_space = False
    for token in tokens:
        text = token.text
        if needs_space and text[:1].isalpha():
            parts.append(" ")
        parts.append(text)
        parts.append(token.after)
        needs_space = token.kind is Kind.WORD and not token.after and text[-1] != "*"
    return "".join(parts)
