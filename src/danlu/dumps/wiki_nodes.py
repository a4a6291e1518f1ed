"""What the nodes of parsed wikitext say, as lines of plain text with marks for wiki_lines.py.

Decides: links give their text; files, categories (collected), links to other languages, references, tables, galleries
and comments are dropped; formulae become $...$ with their TeX; code stands as it is. A template is dropped unless
wikitext.toml says which of its arguments are its text. Raises digits to superscripts where all of an exponent can be.
Costs: a visit to each node.
"""

from __future__ import annotations

import html
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from danlu.dumps.wiki_lines import BREAK, CONTROLS, DROPPED, KEPT, LIST, restore

_MATH = frozenset({"math", "chem", "ce"})
_BLOCKS_AS_THEY_ARE = frozenset({"pre", "syntaxhighlight", "source"})
_CODE = frozenset({"code", "tt", "kbd", "samp"})
_LIST_MARKS = frozenset("*#:;")
_DROPPED_TAGS = frozenset(
    {"ref", "references", "gallery", "timeline", "imagemap", "score", "graph", "mapframe", "maplink", "hiero"}
    | {
        "templatestyles",
        "templatedata",
        "indicator",
        "includeonly",
        "inputbox",
        "categorytree",
        "section",
        "style",
    }
    | {"rt", "rp", "meta", "link", "img", "tr", "td", "th", "caption"}
)
_BLOCK_TAGS = frozenset(
    {"p", "div", "blockquote", "center", "ul", "ol", "dl", "h1", "h2", "h3", "h4", "h5", "h6"}
)
_OTHER_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]+)*|simple")
_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
_BETWEEN_NUMBERS = frozenset({"to", "and", "x", "×", "by", "-", "–", "or", "+/-", "±", "&", "to(-)", "*"})
_RAISED = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")


@cache
def tables() -> dict[str, Any]:
    """wikitext.toml: `headings` by language, `templates` by name."""
    return tomllib.loads(files("danlu.dumps").joinpath("wikitext.toml").read_text(encoding="utf-8"))


@dataclass(slots=True)
class Reader:
    """Reads the nodes of one article; `kept` are texts that no later rule may touch."""

    file_names: frozenset[str]
    category_names: frozenset[str]
    kept: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)

    def read(self, code: Any) -> str:
        """The text of parsed wikitext, with marks."""
        return "".join([self.read_node(node) for node in code.nodes]) if code is not None else ""

    def read_node(self, node: Any) -> str:
        """The text of one node, with marks."""
        return _READERS[type(node).__name__](self, node)

    def keep(self, text: str) -> str:
        """A mark that stands for a text which stays as it is."""
        self.kept.append(text.translate(CONTROLS))
        return f"{KEPT}{len(self.kept) - 1}{KEPT}"

    def _text(self, node: Any) -> str:
        return str(node.value)

    def _comment(self, _node: Any) -> str:
        return DROPPED

    def _heading(self, node: Any) -> str:
        return f"\n\n{self.read(node.title)}\n\n"

    def _entity(self, node: Any) -> str:
        # A control character that is spelled out could be taken for a mark.
        character = html.unescape(str(node)).translate(CONTROLS)
        return self.keep(character) if character == "<" else character

    def _argument(self, node: Any) -> str:
        return self.read(node.default) or DROPPED

    def _wikilink(self, node: Any) -> str:
        title = self.read(node.title).strip()
        text = self.read(node.text).strip()
        if title.startswith(":"):
            return text or title[1:]
        space, colon, rest = title.partition(":")
        folded = space.strip().casefold()
        if colon and folded in self.category_names:
            self.categories.append(rest.strip())
            return DROPPED
        if colon and folded in self.file_names:
            return DROPPED
        if colon and not text and _OTHER_LANGUAGE.fullmatch(space):
            return DROPPED
        return text or title

    def _external_link(self, node: Any) -> str:
        if node.title is not None:
            return self.read(node.title).strip()
        return DROPPED if node.brackets else str(node.url)

    def _tag(self, node: Any) -> str:
        name = str(node.tag).strip().lower()
        marks = str(node.wiki_markup or "")
        if marks and marks in _LIST_MARKS:
            return LIST + marks
        if name == "table":
            return f"\n{DROPPED}\n"
        if name == "br":
            return BREAK
        if name == "hr":
            return "\n\n"
        if name in _DROPPED_TAGS:
            return DROPPED
        if name in _MATH:
            formula = " ".join(_contents(node).split())
            return (
                self.keep(f"${formula}$" if name == "math" else f"$\\ce{{{formula}}}$")
                if formula
                else DROPPED
            )
        if name in _BLOCKS_AS_THEY_ARE:
            return self._as_it_is(node, name)
        if name == "nowiki":
            return self.keep(html.unescape(_contents(node)))
        return self._inner(self.read(node.contents), name)

    def _as_it_is(self, node: Any, name: str) -> str:
        text = _contents(node)
        if name == "pre":
            text = html.unescape(text)
        if node.has("inline"):
            return self.keep(text.strip())
        block = text.strip("\r\n").rstrip()
        return f"\n\n{self.keep(block)}\n\n" if block else DROPPED

    def _inner(self, text: str, name: str) -> str:
        if name in _CODE and text.strip() and not any(mark in text for mark in (LIST, DROPPED)):
            return self.keep(restore(text, self.kept).replace(BREAK, "\n"))
        if name == "sup" or name == "sub":
            raised = text.strip().translate(_RAISED if name == "sup" else _LOWERED)
            return (
                raised
                if not any(character.isascii() and character.isalnum() for character in raised)
                else text
            )
        if name == "poem":
            return f"\n\n{text.strip().replace(chr(10), BREAK)}\n\n"
        if name == "li":
            return f"\n{LIST}*{text.strip()}"
        return f"\n\n{text}\n\n" if name in _BLOCK_TAGS else text

    def _template(self, node: Any) -> str:
        name = " ".join(str(node.name).replace("_", " ").split()).casefold()
        arguments = {str(each.name).strip(): self.read(each.value).strip() for each in node.params}
        function, colon, value = name.partition(":")
        if colon and function == "formatnum":
            return value
        if name in ("convert", "cvt"):
            return _quantity(arguments) or DROPPED
        pattern = _pattern(name, arguments)
        if name == "as of" and "lc" in arguments:
            pattern = pattern.lower()
        return _fill(pattern, arguments) or DROPPED


def _contents(node: Any) -> str:
    return "" if node.contents is None else str(node.contents)


def _pattern(name: str, arguments: dict[str, str]) -> str:
    found = tables()["templates"].get(name)
    if isinstance(found, list):
        places = sum(key.isdecimal() for key in arguments)
        return str(found[min(max(places, 1), len(found)) - 1])
    if found is None and name.startswith("lang-"):
        return "{1|text}"
    return str(found or "")


def _fill(pattern: str, arguments: dict[str, str]) -> str:
    """The pattern with its arguments; "" where one is missing."""
    is_whole = True

    def value(match: re.Match[str]) -> str:
        nonlocal is_whole
        found = next((arguments[name] for name in match[1].split("|") if arguments.get(name)), "")
        is_whole = is_whole and bool(found)
        return found

    text = _PLACEHOLDER.sub(value, pattern)
    return text if is_whole else ""


def _quantity(arguments: dict[str, str]) -> str:
    """{{convert|5|to|6|km|mi}}: the given quantity in its own unit, "5 to 6 km"."""
    words: list[str] = []
    for place in range(1, len(arguments) + 1):
        value = arguments.get(str(place), "")
        words.append(value)
        if value not in _BETWEEN_NUMBERS and not any(character.isdecimal() for character in value):
            break
    return " ".join(word for word in words if word)


_READERS: dict[str, Callable[[Reader, Any], str]] = {
    "Text": Reader._text,
    "Comment": Reader._comment,
    "Heading": Reader._heading,
    "HTMLEntity": Reader._entity,
    "Argument": Reader._argument,
    "Wikilink": Reader._wikilink,
    "ExternalLink": Reader._external_link,
    "Tag": Reader._tag,
    "Template": Reader._template,
}
