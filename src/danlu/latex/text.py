r"""Expanded tokens to sections of text: what LaTeX prints, without its layout, figures, tables and bibliography.

Decides: a citation is "[n]", numbered by first mention, since a sentence may lean on it; a \ref is left out with the
space before it. Of figures, tables and algorithms their captions, listings and displayed formulae stay; tables within
the text are rows of cells with tabs. An unknown command with one argument leaves its text, with several or none
nothing, and is counted. Guarantees: linear time; groups nest MOST_DEPTH deep, deeper ones are read as if they had no
command before them. Costs: 1 MB/s.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from danlu.extract.section import Section
from danlu.latex.arguments import Places
from danlu.latex.formula import display_source, end_of_formula, inline_source
from danlu.latex.paragraphs import Paragraphs
from danlu.latex.scan import Kind, Token, join_source
from danlu.latex.vocabulary import METADATA, load_vocabulary

MOST_DEPTH = 30
_LIGATURES = re.compile(r"---?|``|''|[`']|[?!]`")
_LIGATURE_TEXT = {
    "--": "–",
    "---": "—",
    "``": "“",
    "''": "”",
    "`": "‘",
    "'": "’",
    "?`": "¿",
    "!`": "¡",
}
_DIMENSION = re.compile(
    r"(?:=|plus|minus)?(?:[-+]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:true)?(?:pt|cm|mm|in|em|ex|bp|sp|pc|dd|fil+|mu)?)?"
)
_OVERLAY = re.compile(r"<[^<>]*>")
_FORMULA = re.compile(r"\$[^$]*\$")
_HEADS_END = (".", "?", "!", ":", "。", "？", "！", "：")
_ABSTRACT_LEVEL = 1
_PLAIN, _LABELLED = -1, -2
"""Lists that count no items."""
_AND = frozenset(("and", "And", "AND"))
_MARKS = frozenset(("textsuperscript", "footnotemark", "thanks", "inst", "footnote", "fnmsep"))


@dataclass(slots=True)
class Facts:
    """What a paper says of itself, and what was met in it that is not known."""

    metadata: dict[str, str] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)
    unclosed: int = 0
    """Formula signs without a partner."""


def to_text(tokens: Sequence[Token], theorems: dict[str, str]) -> tuple[tuple[Section, ...], Facts]:
    """The sections of a paper's expanded tokens; `theorems`: environments that it declares -> their titles."""
    writer = _Writer(tokens, {**load_vocabulary().theorems, **theorems})
    start, end = writer.body()
    if start:
        writer.walk(0, start)
        writer.out, writer.facts = Paragraphs(), Facts(writer.facts.metadata)
    writer.walk(start, end)
    return writer.out.finish(), writer.facts


class _Writer:
    def __init__(self, tokens: Sequence[Token], theorems: dict[str, str]) -> None:
        self.out = Paragraphs()
        self.facts = Facts()
        self._places = Places(tokens)
        self._tokens, self._partners = self._places.tokens, self._places.partners
        self._theorems = theorems
        self._words = load_vocabulary()
        self._cited: dict[str, int] = {}
        self._lists: list[list[int]] = []
        self._depth = 0
        self._is_code = False

    def body(self) -> tuple[int, int]:
        r"""From behind \begin{document} to its end, or all where there is none."""
        for place, token in enumerate(self._tokens):
            if token.kind is Kind.BEGIN and token.name == "document":
                end = self._partners[place]
                return place + 1, end if end > place else len(self._tokens)
        return 0, len(self._tokens)

    def walk(self, start: int, end: int) -> None:
        """Writes the tokens of a range."""
        tokens, out, place = self._tokens, self.out, start
        while place < end:
            token = tokens[place]
            kind = token.kind
            if kind is Kind.TEXT:
                out.write(token.text if self._is_code else _ligated(token.text))
            elif kind is Kind.SPACE or kind is Kind.TIE:
                out.space()
            elif kind is Kind.WORD:
                place = self._command(place, end)
                continue
            elif kind is Kind.MATH or (kind is Kind.SYMBOL and token.name in ("(", "[")):
                place = self._formula(place, end)
                continue
            elif kind is Kind.SYMBOL:
                place = self._symbol(place, end)
                continue
            elif kind is Kind.BEGIN:
                place = self._begin(place, end)
                continue
            else:
                self._other(token)
            place += 1

    def _other(self, token: Token) -> None:
        if token.kind is Kind.PARAGRAPH:
            self.out.paragraph()
        elif token.kind is Kind.VERBATIM:
            self.out.code(token.text)
        elif token.kind is Kind.END:
            self._end(token.name)
        elif token.kind is Kind.ALIGN:
            self.out.tab()
        elif token.kind is not Kind.CLOSE and token.kind is not Kind.OPEN:
            self.out.write(token.text)

    def _formula(self, place: int, end: int) -> int:
        behind = end_of_formula(self._tokens, self._partners, place, end)
        if behind < 0:
            self.facts.unclosed += 1
            return place + 1
        formula = self._tokens[place:behind]
        if (formula[0].kind is Kind.MATH and formula[1].kind is not Kind.MATH) or formula[0].name == "(":
            self.out.write(inline_source(formula))
        else:
            self.out.display(display_source(formula))
        return behind

    def _symbol(self, place: int, end: int) -> int:
        token = self._tokens[place]
        if token.name == "\\":
            self.out.line_break()
        elif mark := self._words.accents.get(token.name):
            return self._accent(place, end, mark)
        elif token.name not in self._words.text:
            self.facts.unknown[token.name] += 1
        else:
            self.out.write(self._words.text[token.name])
        return place + 1

    def _accent(self, place: int, end: int, mark: str) -> int:
        """A letter with an accent, which is over its first argument."""
        place = self._places.skip_space(place + 1, end)
        if place >= end:
            return place
        token = self._tokens[place]
        behind = place + 1
        if token.kind is Kind.OPEN and self._partners[place] > place:
            behind = self._partners[place] + 1
            base = self._captured(place + 1, behind - 1)
        elif token.kind is Kind.TEXT:
            self._tokens[place] = token._replace(text=token.text[1:])
            base, behind = token.text[0], place
        elif token.kind is Kind.WORD:
            base = self._words.text.get(token.name, "")
        else:
            base, behind = "", place
        base = {"ı": "i", "ȷ": "j"}.get(base, base)
        spacing = {"\u0302": "^", "\u0303": "~"}.get(mark, "")
        self.out.write(unicodedata.normalize("NFC", base[0] + mark + base[1:]) if base else spacing)
        return behind

    def _command(self, place: int, end: int) -> int:
        """Writes a command and its arguments; where to go on."""
        token, words = self._tokens[place], self._words
        name = token.name
        if name in words.text:
            self.out.write(words.text[name])
            return place + 1
        if name in words.headings or name in words.groups["run_in"]:
            return self._heading(place, end)
        if (special := _SPECIAL.get(name)) is not None:
            return special(self, place, end)
        if name in words.accents:
            return self._accent(place, end, words.accents[name])
        if (spec := words.arguments.get(name)) is not None:
            return self._arguments(place + 1, end, spec)
        if name in words.groups["citations"]:
            return self._cite(place, end)
        if name in words.groups["references"]:
            self.out.gap()
            return self._arguments(place + 1, end, "od")
        if name in words.groups["dimensions"]:
            return self._dimension(place + 1, end)
        return self._unknown(place, end)

    def _unknown(self, place: int, end: int) -> int:
        name = self._tokens[place].name
        self.facts.unknown[name] += 1
        first = self._places.option_end(place + 1, end)
        groups, behind = 0, first
        while behind < end and self._tokens[behind].kind is Kind.OPEN and self._partners[behind] > behind:
            behind = self._partners[behind] + 1
            groups += 1
        return first if groups < 2 else behind

    def _arguments(self, place: int, end: int, spec: str) -> int:
        """Takes the arguments of a command as vocabulary.toml spells them."""
        for number, sign in enumerate(spec, 1):
            if sign == "o":
                place = self._places.option_end(place, end)
                continue
            start = self._places.skip_space(place, end)
            if start >= end or self._tokens[start].kind is not Kind.OPEN or self._partners[start] < start:
                break
            stop = self._partners[start]
            if sign == "b":
                self.out.paragraph()
            if sign in "kbrc" and (self._depth >= MOST_DEPTH or (sign == "k" and number == len(spec))):
                return start
            if sign == "r":
                self._run_in(self._captured(start + 1, stop))
            elif sign != "d":
                self._within(start + 1, stop, is_code=sign == "c")
            if sign == "b":
                self.out.paragraph()
            place = stop + 1
        return place

    def _within(self, start: int, stop: int, is_code: bool = False) -> None:
        was_code, self._is_code = self._is_code, is_code or self._is_code
        self._depth += 1
        self.walk(start, stop)
        self._depth -= 1
        self._is_code = was_code

    def _captured(self, start: int, stop: int) -> str:
        """A range as one line of its own."""
        if self._depth >= MOST_DEPTH:
            return ""
        out, self.out = self.out, Paragraphs()
        lists, self._lists = self._lists, []
        self._within(start, stop)
        text, self.out, self._lists = self.out.one_line(), out, lists
        return text

    def _heading(self, place: int, end: int) -> int:
        name = self._tokens[place].name
        start, stop, behind = self._places.group(self._places.option_end(place + 1, end), end)
        title = self._captured(start, stop)
        if name in self._words.headings:
            self.out.heading(self._words.headings[name], title)
        else:
            self._run_in(title)
        return behind

    def _run_in(self, title: str) -> None:
        """A head that begins a paragraph."""
        self.out.paragraph()
        if title:
            self.out.write(title if title.endswith(_HEADS_END) else f"{title}.")
            self.out.space()

    def _cite(self, place: int, end: int) -> int:
        place = self._places.option_end(self._places.option_end(place + 1, end), end)
        start, stop, behind = self._places.group(place, end)
        keys = [key.strip() for key in join_source(self._tokens[start:stop]).split(",")]
        numbers = [self._cited.setdefault(key, len(self._cited) + 1) for key in keys if key]
        if numbers:
            self.out.write(f"[{', '.join(map(str, numbers))}]")
        return behind

    def _dimension(self, place: int, end: int) -> int:
        """Behind the length that a command of plain TeX sets."""
        while (place := self._places.skip_space(place, end)) < end and self._tokens[place].kind is Kind.TEXT:
            text = self._tokens[place].text
            match = _DIMENSION.match(text)
            rest = text[match.end() :] if match else text
            self._tokens[place] = self._tokens[place]._replace(text=rest)
            following = self._places.skip_space(place + 1, end)
            is_longer = following < end and self._tokens[following].text.startswith(("plus", "minus"))
            if rest or not (is_longer or text in ("plus", "minus", "=")):
                break
            place += 1
        return place

    def _begin(self, place: int, end: int) -> int:
        name, groups = self._tokens[place].name, self._words.groups
        stop = self._partners[place]
        is_whole = place < stop < end
        if is_whole and name in groups["mathematics"]:
            formula = self._tokens[place : stop + 1]
            if name == "math":
                self.out.write(inline_source(formula))
            else:
                self.out.display(display_source(formula))
            return stop + 1
        if is_whole and name in groups["dropped"]:
            return stop + 1
        if is_whole and name in groups["floats"]:
            self._float(place + 1, stop)
            return stop + 1
        if is_whole and name in groups["keywords"]:
            self._tell("keywords", self._captured(place + 1, stop))
            return stop + 1
        return self._open(name, place + 1, end)

    def _open(self, name: str, place: int, end: int) -> int:
        """Begins an environment of which the text stays."""
        groups = self._words.groups
        self.out.paragraph()
        if name in groups["abstracts"]:
            self.out.heading(_ABSTRACT_LEVEL, "Abstract")
            return self._places.option_end(place, end)
        if (title := self._theorems.get(name.removesuffix("*"), self._theorems.get(name))) is not None:
            return self._theorem(name, title, place, end)
        if name in groups["lists"] or name in groups["described"] or name in groups["numbered"]:
            self._lists.append(
                [0 if name in groups["numbered"] else _PLAIN if name in groups["lists"] else _LABELLED]
            )
        elif name not in groups["kept_environments"] and name not in groups["tables"]:
            self.facts.unknown[f"begin{{{name}}}"] += 1
        return self._arguments(place, end, self._words.environment_arguments.get(name, "o"))

    def _theorem(self, name: str, title: str, place: int, end: int) -> int:
        behind = self._places.option_end(place, end)
        note = ""
        if behind > place:
            note = self._captured(self._places.skip_space(place, end) + 1, behind - 1)
        if name == "proof" and note:
            self._run_in(note)
        else:
            self._run_in(f"{title} ({note})" if note else title)
        return behind

    def _end(self, name: str) -> None:
        groups = self._words.groups
        self.out.paragraph()
        if name in groups["abstracts"]:
            self.out.heading(_ABSTRACT_LEVEL, "")
        elif self._lists and (
            name in groups["lists"] or name in groups["described"] or name in groups["numbered"]
        ):
            self._lists.pop()

    def _float(self, place: int, stop: int) -> None:
        """The captions, listings and displayed formulae of a figure or table."""
        while place < stop:
            token = self._tokens[place]
            if token.kind is Kind.WORD and token.name in (
                "caption",
                "captionof",
                "tablecaption",
                "figcaption",
            ):
                place = self.note(place, stop)
                continue
            if token.kind is Kind.VERBATIM:
                self.out.note(token.text.strip("\n"))
            elif token.kind is Kind.BEGIN and token.name in self._words.groups["mathematics"]:
                behind = self._partners[place] + 1
                if place < behind <= stop and token.name not in ("array", "cases"):
                    self.out.note(display_source(self._tokens[place:behind]))
                    place = behind - 1
            place += 1

    def _tell(self, key: str, value: str) -> None:
        if value:
            known = self.facts.metadata.get(key)
            self.facts.metadata[key] = f"{known}; {value}" if known and key == "author" else value

    def item(self, place: int, end: int) -> int:
        """An item of a list; outside of lists a paragraph."""
        behind = self._places.option_end(place + 1, end)
        label = self._captured(place + 2, behind - 1) if behind > place + 1 else ""
        if behind < end and self._tokens[behind].kind is Kind.TEXT:
            token = self._tokens[behind]
            self._tokens[behind] = token._replace(text=_OVERLAY.sub("", token.text, count=1))
        numbers = self._lists[-1] if self._lists else [_PLAIN]
        if numbers[0] >= 0:
            numbers[0] += not label
            self.out.item(label or f"{numbers[0]}.", len(self._lists))
        elif numbers[0] == _PLAIN or not label:
            self.out.item(label or "-", max(1, len(self._lists)))
        else:
            self.out.item(label if label.endswith(_HEADS_END) else f"{label}:", len(self._lists))
        return behind

    def note(self, place: int, end: int) -> int:
        """A footnote or caption: a paragraph of its own behind the one it stands in."""
        behind = self._places.option_end(place + 1, end)
        if self._tokens[place].name == "captionof":
            behind = self._places.group(behind, end)[2]
        start, stop, behind = self._places.group(self._places.option_end(behind, end), end)
        self.out.note(self._captured(start, stop))
        return max(behind, place + 1)

    def fact(self, place: int, end: int) -> int:
        """What the paper says of itself."""
        token = self._tokens[place]
        start, stop, behind = self._places.group(self._places.option_end(place + 1, end), end)
        if token.name == "author":
            self._tell("author", self._authors(start, stop))
        elif token.name == "abstract":
            self.out.heading(_ABSTRACT_LEVEL, "Abstract")
            self._within(start, stop)
            self.out.heading(_ABSTRACT_LEVEL, "")
        else:
            self._tell(token.name, self._captured(start, stop))
        return max(behind, place + 1)

    def _authors(self, start: int, stop: int) -> str:
        """Names alone: what stands before the first line break of each author, without marks of notes."""
        names = []
        while start < stop:
            end = broken = start
            is_broken = False
            while end < stop and not (self._tokens[end].kind is Kind.WORD and self._tokens[end].name in _AND):
                token = self._tokens[end]
                if token.kind is Kind.WORD and token.name in _MARKS:
                    self._tokens[end] = token._replace(name="label")
                is_broken = is_broken or (token.kind is Kind.SYMBOL and token.name == "\\")
                end += 1
                broken = broken if is_broken else end
            name = _FORMULA.sub("", self._captured(start, broken))
            names.append(" ".join(name.split()).strip(" ,;"))
            start = end + 1
        return "; ".join(filter(None, names))

    def paragraph(self, place: int, _end: int) -> int:
        """The end of a paragraph."""
        self.out.paragraph()
        return place + 1

    def line_break(self, place: int, _end: int) -> int:
        """The end of a line."""
        self.out.line_break()
        return place + 1


def _ligated(text: str) -> str:
    return _LIGATURES.sub(lambda match: _LIGATURE_TEXT[match[0]], text)


_SPECIAL: dict[str, Callable[[_Writer, int, int], int]] = {
    "item": _Writer.item,
    **dict.fromkeys(("caption", "captionof", "footnote", "footnotetext"), _Writer.note),
    **dict.fromkeys(METADATA, _Writer.fact),
    "par": _Writer.paragraph,
    **dict.fromkeys(("newline", "linebreak"), _Writer.line_break),
}
