"""XML of strangers to events or a small tree, and XHTML that is no XML to the same events.

Guarantees: declared entities and defaults of attributes are refused before one is expanded, nothing outside of the
bytes is loaded, and depth is bounded, so that every text comes from a byte of the input. HTML's named characters are
known without a declaration.
Costs: expat's speed with three Python calls an element (about 10 MB/s); a tree takes ten times its text.
"""

from __future__ import annotations

import html
import html.entities
import re
from collections.abc import Callable
from typing import Protocol
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

MOST_DEPTH = 500

_ENDED_BY_ITSELF = frozenset(("p", "li", "tr", "td", "th", "dt", "dd", "option"))
"""In HTML, one of these ends the one before it."""
_RAW = frozenset(("script", "style", "title", "textarea"))
"""What stands in them is no markup."""
_NAME = re.compile(r"[^\s/>]+")
_ATTRIBUTE = re.compile(r"""([^\s=/"'>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")
_VOID = frozenset(
    (
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
    )
)


class Events(Protocol):
    """What wants to know of elements: names without their namespace, lower case only where the input is HTML."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins; attribute names are without their namespace too."""

    def end(self, name: str) -> None:
        """An element ends."""

    def data(self, text: str) -> None:
        """Characters."""


class MalformedError(ValueError):
    """What is not well-formed XML, or nested too deep to be read as such; the message says where."""


def read_xml(data: bytes, events: Events) -> None:
    """Tells `events` of the elements in order.

    Raises MalformedError for what is no XML (after the events before it), ValueError for what is refused.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    # Without a declaration, a named character such as &nbsp; is handed over instead of being an error.
    parser.UseForeignDTD(True)
    depth = 0

    def started(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MOST_DEPTH:
            raise MalformedError(f"elements are nested more than {MOST_DEPTH} deep")
        events.start(_local(name), {_local(key): value for key, value in attributes.items()})

    def ended(name: str) -> None:
        nonlocal depth
        depth -= 1
        events.end(_local(name))

    parser.StartElementHandler = started
    parser.EndElementHandler = ended
    parser.CharacterDataHandler = events.data
    parser.EntityDeclHandler = _refuse_entity
    parser.AttlistDeclHandler = _refuse_default
    parser.ExternalEntityRefHandler = lambda *_: 1
    parser.SkippedEntityHandler = _named_character(events)
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, UnicodeError) as error:
        raise MalformedError(f"is no well-formed XML: {error}") from error


def read_tree(data: bytes) -> Element:
    """The root of a small document as a tree. Raises ValueError as `read_xml`."""
    builder = _Tree()
    read_xml(data, builder)
    return builder.root()


def read_html(text: str, events: Events) -> None:
    """Tells `events` of HTML as it stands, in linear time: every event is one of a balanced tree.

    What never ends, ends where an element around it does; a tag that closes itself as in XML is closed. Raises
    ValueError where elements are nested too deep.
    """
    _Html(text, events).read()


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


def _refuse_entity(name: str, *_: object) -> None:
    raise ValueError(f"declares an entity ({name[:50]}): refused, as it may expand without end")


def _refuse_default(element: str, name: str, _kind: str, default: str | None, _is_required: bool) -> None:
    if default is not None:
        raise ValueError(
            f"declares a default of an attribute ({element[:50]} {name[:50]}): refused, as every element repeats it"
        )


def _named_character(events: Events) -> Callable[[str, bool], None]:
    def skipped(name: str, is_parameter: bool) -> None:
        if not is_parameter:
            events.data(html.entities.html5.get(f"{name};", f"&{name};"))

    return skipped


class _Tree:
    def __init__(self) -> None:
        self._builder = TreeBuilder()

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._builder.start(name, attributes)

    def end(self, name: str) -> None:
        self._builder.end(name)

    def data(self, text: str) -> None:
        self._builder.data(text)

    def root(self) -> Element:
        return self._builder.close()


class _Html:
    """One reading; `_place` only grows, and what is looked for in vain is not looked for again."""

    def __init__(self, text: str, events: Events) -> None:
        self._text, self._events = text, events
        self._place = 0
        self._open: list[str] = []
        self._missing: set[str] = set()

    def read(self) -> None:
        """The whole text."""
        while self._place < len(self._text):
            mark = self._find("<", self._place)
            self._say(len(self._text) if mark < 0 else mark)
            if mark >= 0:
                self._read_mark(mark)
        while self._open:
            self._events.end(self._open.pop())

    def _find(self, wanted: str, start: int) -> int:
        if wanted in self._missing:
            return -1
        place = self._text.find(wanted, start)
        if place < 0:
            self._missing.add(wanted)
        return place

    def _say(self, end: int) -> None:
        if end > self._place:
            self._events.data(html.unescape(self._text[self._place : end]))
        self._place = end

    def _read_mark(self, mark: int) -> None:
        text = self._text
        following = text[mark + 1 : mark + 3]
        if following[:1].isalpha() or (following[:1] == "/" and following[1:].isalpha()):
            end = self._end_of_tag(mark)
            # A tag that never ends is the end of the page.
            self._place = len(text) if end < 0 else end + 1
            if end >= 0:
                self._read_tag(text[mark + 1 : end])
        elif following[:1] in ("!", "?", "/"):
            is_comment = text.startswith("!--", mark + 1)
            close = "-->" if is_comment else ">"
            end = self._find(close, mark + 1)
            end = self._find(">", mark + 1) if end < 0 else end + len(close) - 1
            self._place = len(text) if end < 0 else end + 1
        else:
            self._say(mark + 1)

    def _end_of_tag(self, mark: int) -> int:
        """The first ">" that stands in no quoted value, -1 where there is none."""
        end = self._find(">", mark)
        for quote in "\"'":
            if end >= 0 and self._text.count(quote, mark, end) % 2 and "=" + quote in self._text[mark:end]:
                closed = self._find(quote, end)
                end = self._find(">", closed) if closed >= 0 else end
        return end

    def _read_tag(self, tag: str) -> None:
        name = _NAME.match(tag.lower().lstrip("/"))
        local = name[0].rpartition(":")[2] if name else ""
        if tag.startswith("/"):
            self._end(local)
            return
        found = _ATTRIBUTE.finditer(tag, name.end() if name else 0)
        attributes = {
            part[1].lower().rpartition(":")[2]: html.unescape(part[2] or part[3] or part[4] or "")
            for part in found
        }
        self._start(local, attributes)
        if tag.endswith("/") or local in _VOID:
            self._events.end(self._open.pop())
        elif local in _RAW:
            end = re.compile(f"</{local}", re.IGNORECASE).search(self._text, self._place)
            self._say(end.start() if end else len(self._text))

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name in _ENDED_BY_ITSELF and self._open and self._open[-1] == name:
            self._events.end(self._open.pop())
        if len(self._open) >= MOST_DEPTH:
            raise ValueError(f"elements are nested more than {MOST_DEPTH} deep")
        self._open.append(name)
        self._events.start(name, attributes)

    def _end(self, name: str) -> None:
        if name in self._open:
            while (last := self._open.pop()) != name:
                self._events.end(last)
            self._events.end(name)
