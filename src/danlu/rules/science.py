"""Scientific text: where it holds formulae of TeX, and the rules for papers, which count its prose alone.

Decides: `$..$` and `\\(..\\)` within a paragraph, `$$..$$`, `\\[..\\]` and amsmath's environments without a blank line
inside are formulae; a dollar before a space or a digit closes none, so that prices stay prose. Guarantees: spans are
in order and do not overlap; a blanked text has the same length and the same lines, so that offsets hold in both.
Costs: above 500 MB/s where there is no formula; linear in the text, whatever it holds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from danlu.rules.settings import Science
from danlu.words.text import Measured, Text

MEASURES: tuple[str, ...] = ("words", "paragraphs", "top_word_share", "alphabetic_top_word", "formula_share")

_INLINE_CHARACTERS = 1000
_DISPLAY_CHARACTERS = 20_000
_OPEN = re.compile(
    r"(?<!\\)(?:\$\$|(?<![A-Za-z0-9$])\$(?![\s$])|\\\(|\\\["
    r"|\\begin\{(?P<name>(?:equation|align|alignat|flalign|gather|multline|eqnarray|displaymath|math)\*?)\})"
)
_CLOSE_DOLLAR = re.compile(
    rf"(?P<body>(?:[^$\\\n]|\\[^\n]|\n(?![^\S\n]*\n)){{1,{_INLINE_CHARACTERS}}}+)(?<!\s)\$(?![\d{{(])"
)
_TEX = re.compile(r"[\\^_]")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_PARAGRAPHS = re.compile(r"\n(?:[^\S\n]*\n)+")
_NO_LINE_BREAK = re.compile("[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def measure(text: Text, settings: Science) -> Measured:  # noqa: ARG001 (as of every step)
    """The five measures, of the text with its formulae blanked; the text stays as it is."""
    prose = mask_formulae(text)
    starts, ends = prose.words
    words = [prose.text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    # Of equally frequent words, the first to occur.
    top, count = Counter(words).most_common(1)[0] if words else ("", 0)
    formulae = sum(end - start for start, end in formula_spans(text.text)) if prose is not text else 0
    paragraphs = sum(not part.isspace() for part in _PARAGRAPHS.split(text.text) if part)
    values = (
        *(float(len(words)), float(paragraphs), count / max(len(words), 1), float(top.isalpha())),
        formulae / max(len(text.text), 1),
    )
    return Measured(text, values)


def decide(values: Sequence[float], settings: Science) -> str:
    """ "" keeps; else the first rule that is broken."""
    words, paragraphs, top_share, alphabetic, formulae = values
    if formulae > settings.max_formula_share:
        return "formulae"
    if words < settings.min_words:
        return "short"
    if paragraphs < settings.min_paragraphs:
        return "few_paragraphs"
    if top_share > settings.max_top_word_share or (settings.alphabetic_top_word and not alphabetic):
        return "top_word"
    return ""


def formula_spans(text: str) -> list[tuple[int, int]]:
    """(start, end) code points of every formula with its delimiters, in order, not overlapping."""
    spans: list[tuple[int, int]] = []
    if "$" not in text and "\\" not in text:
        return spans
    position, ahead = 0, _Ahead(text)
    while match := _OPEN.search(text, position):
        end = _close_inline(text, match.end()) if match[0] == "$" else _close_display(match, ahead)
        if end:
            spans.append((match.start(), end))
        position = end or match.end()
    return spans


def mask_formulae(text: Text) -> Text:
    """The text with a space for every code point of a formula but its line breaks; the same object without one."""
    spans = formula_spans(text.text)
    return text.with_text(blank(text.text, spans)) if spans else text


def blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """A text of the same length and lines, with spaces in the spans."""
    parts, done = [], 0
    for start, end in spans:
        parts += [text[done:start], _NO_LINE_BREAK.sub(" ", text[start:end])]
        done = end
    return "".join([*parts, text[done:]])


class _Ahead:
    """Where each closing delimiter stands next: a text is looked through once for each, however many open."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._next: dict[str, int] = {}

    def find(self, closing: str, start: int) -> int:
        """The first occurrence at or after `start`, which never goes back; the text's length where there is none."""
        found = self._next.get(closing, -1)
        if found < start:
            found = self.text.find(closing, start)
            found = self._next[closing] = len(self.text) if found < 0 else found
        return found

    def find_blank_line(self, start: int) -> int:
        found = self._next.get("\n\n", -1)
        if found < start:
            match = _BLANK_LINE.search(self.text, start)
            found = self._next["\n\n"] = match.start() if match else len(self.text)
        return found


def _close_display(opened: re.Match[str], ahead: _Ahead) -> int:
    """Where the formula ends that this delimiter opens; 0 where it opens none."""
    name, start = opened["name"], opened.end()
    closing = f"\\end{{{name}}}" if name else {"$$": "$$", "\\(": "\\)", "\\[": "\\]"}[opened[0]]
    found = ahead.find(closing, start)
    if not 0 < found - start <= _DISPLAY_CHARACTERS or found == len(ahead.text):
        return 0
    return found + len(closing) if ahead.find_blank_line(start) > found else 0


def _close_inline(text: str, start: int) -> int:
    match = _CLOSE_DOLLAR.match(text, start)
    # ${name} of a shell or a template is a formula only where TeX's own characters are in it.
    if match is None or (match["body"][0] == "{" and not _TEX.search(match["body"])):
        return 0
    return match.end()
