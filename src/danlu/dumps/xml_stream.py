"""A long XML file as the children of its root, one at a time, whatever is broken between them.

Decides: a child that is malformed, too long or too deep is one `Broken`, and reading goes on where the next child with
one of the expected names begins; a file that declares a document type is refused at once, so that there are no entities
to expand and nothing to fetch. Guarantees: memory stays within a few times `limit` plus a chunk; time is linear, in a
single token of gigabytes too; what came before a break is given first. Costs: expat, 20-60 MB/s.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from xml.parsers import expat

from danlu.dumps.found import Broken
from danlu.errors import InputError
from danlu.extract.packed import BrokenStreamError, Read

CHUNK_BYTES = 1 << 16
MOST_DEPTH = 32
"""Elements within elements; a dump of MediaWiki needs six."""
_ELEMENT_CHARACTERS = 50
"""What an element counts beside its text, so that a million empty ones are too long, too."""
_SEVEN_ZIP = b"7z\xbc\xaf\x27\x1c"
_NAME_BYTES = 64
"""Kept of what is skipped, so that a start tag across two chunks is still seen."""
_ENDS_EARLY = frozenset(
    {expat.errors.codes[message] for message in ("no element found", "unclosed token", "partial character")}
    | {expat.errors.codes["unclosed CDATA section"]}
)
_INVALID_TOKEN = expat.errors.codes["not well-formed (invalid token)"]


@dataclass(slots=True)
class Element:
    """An element: its attributes, the text directly in it, and the elements in it."""

    name: str
    attributes: dict[str, str]
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def child(self, name: str) -> Element | None:
        """The last child of a name."""
        return next((child for child in reversed(self.children) if child.name == name), None)

    def child_text(self, name: str) -> str:
        """The text of the last child of a name, without space around it; "" where there is none."""
        child = self.child(name)
        return child.text.strip() if child else ""


class Part(NamedTuple):
    """A child of the root, from its first byte to that of what follows it."""

    start: int
    end: int
    element: Element


def read_parts(read: Read, name: str, expected: Sequence[str], limit: int) -> Iterator[Part | Broken]:
    """The root without its children, then its children in order; `expected` are the names at which to go on.

    A child may hold about `limit` characters. Raises InputError where the file is a 7z archive.
    """
    source = _Source(read)
    start_tag = re.compile(b"<(?:" + b"|".join(re.escape(each.encode()) for each in expected) + rb")[\s>/]")
    run = _Run(0, limit)
    while True:
        try:
            data = source.take(run.want)
        except BrokenStreamError as error:
            yield from run.finished(source.position)
            yield Broken(error.reason, run.open_at(source.position), source.position, error.detail)
            return
        if not source.begin and data.startswith(_SEVEN_ZIP):
            raise InputError(
                f"{name} is a 7z archive; unpack it (7z x FILE) and name the XML file that was in it"
            )
        problem = run.feed(data, source.begin)
        yield from run.finished(problem.place if problem else source.position if not data else None)
        if problem is None:
            if not data:
                return
            continue
        start = run.open_at(problem.place)
        if not run.root:
            yield Broken(problem.reason, start, source.position, f"{problem.detail}; the rest is not read")
            return
        # What begins at the same byte again would break again.
        resumed, lost = source.skip(start_tag, max(problem.skip_from, run.base + 1))
        yield Broken(problem.reason, start, source.position, problem.detail)
        if lost:
            yield Broken(lost.reason, source.position, source.position, lost.detail)
        if not resumed:
            return
        run = _Run(source.position, limit, run.root, run.encoding)


class _Problem(NamedTuple):
    reason: str
    place: int
    skip_from: int
    detail: str


class _AbandonedError(Exception):
    """What is read now is not worth reading on: the reason, the detail and the byte, which expat then passes."""


class _Source:
    """A stream with its position; what was taken last can be looked through and taken again."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._data = b""
        self._taken = self._origin = 0
        self.begin = 0
        """Where the last chunk begins."""

    @property
    def position(self) -> int:
        """Where the next chunk begins."""
        return self._origin + self._taken

    def take(self, size: int) -> bytes:
        """The next chunk; b"" at the end."""
        self.begin = self.position
        if self._taken == len(self._data):
            data = self._read(size)
            self._origin, self._data, self._taken = self.begin, data, 0
        chunk = self._data[self._taken : self._taken + size]
        self._taken += len(chunk)
        return chunk

    def skip(self, wanted: re.Pattern[bytes], place: int) -> tuple[bool, BrokenStreamError | None]:
        """Goes to the first match from `place` on, or from the first byte still known; False where there is none."""
        search_from = max(0, place - self._origin)
        while not (found := wanted.search(self._data, search_from)):
            kept = self._data[-_NAME_BYTES:]
            origin = self._origin + len(self._data) - len(kept)
            search_from = max(0, search_from - len(self._data) + len(kept))
            self._taken = len(self._data)
            try:
                more = self._read(CHUNK_BYTES)
            except BrokenStreamError as error:
                return False, error
            if not more:
                return False, None
            self._origin, self._data, self._taken = origin, kept + more, 0
        self._taken = found.start()
        return True, None


class _Run:
    """One run of expat: from the start of a file, or from where a child begins behind a broken one."""

    def __init__(self, base: int, limit: int, root: str = "", encoding: str | None = None) -> None:
        self.base, self.root, self.encoding = base, root, encoding
        # Where one child is broken the next may be, too, and what was fed in vain costs time.
        self.want = CHUNK_BYTES >> 4 if root else CHUNK_BYTES
        self._limit = limit
        self._open: list[Element] = []
        self._texts: list[list[str]] = []
        self._held = self._start = 0
        self._closed: tuple[int, Element] | None = None
        self._parts: list[Part] = []
        self._depth = 0
        self._parser = self._make_parser()
        head = f"<{root}>".encode() if root else b""
        self._shift = base - len(head)
        if head:
            self._parser.Parse(head, False)

    def _make_parser(self) -> Any:
        parser = expat.ParserCreate(self.encoding)
        parser.buffer_text = True
        parser.buffer_size = CHUNK_BYTES
        parser.XmlDeclHandler = self._on_declaration
        parser.StartDoctypeDeclHandler = self._on_document_type
        parser.StartElementHandler = self._on_start
        parser.EndElementHandler = self._on_end
        parser.CharacterDataHandler = self._on_text
        return parser

    @property
    def _place(self) -> int:
        return int(self._parser.CurrentByteIndex) + self._shift

    def feed(self, data: bytes, begin: int) -> _Problem | None:
        """Parses a chunk that begins at `begin`; an empty one is the end of the file."""
        before = self._place
        try:
            self._parser.Parse(data, not data)
        except expat.ExpatError as error:
            place = max(0, int(self._parser.ErrorByteIndex) + self._shift)
            reason = "truncated" if not data and error.code in _ENDS_EARLY else "malformed"
            # A "<" within a tag that was never closed is the start of the next one.
            skip_from = place + (error.code != _INVALID_TOKEN)
            return _Problem(reason, place, skip_from, f"at byte {place}: {expat.ErrorString(error.code)}")
        except _AbandonedError as error:
            reason, detail, place = error.args
            return _Problem(reason, place, place + 1, detail)
        if begin + len(data) - self._place > self._limit + CHUNK_BYTES:
            return _Problem(
                "too_long", self._place, begin + len(data), f"a tag longer than {self._limit} bytes"
            )
        # expat looks through an unfinished tag anew with each chunk: twice as much each time keeps that linear.
        is_stuck = self._place == before and begin > before
        self.want = min(2 * self.want, max(self._limit, CHUNK_BYTES)) if is_stuck else CHUNK_BYTES
        return None

    def finished(self, end: int | None) -> Iterator[Part]:
        """The parts that are whole; the last one waits for what follows it, unless it ends at `end`."""
        if end is not None:
            self._close_part(end)
        parts, self._parts = self._parts, []
        yield from parts

    def open_at(self, otherwise: int) -> int:
        """Where the child begins that is being read."""
        return self._start if self._open else otherwise

    def _close_part(self, end: int) -> None:
        if self._closed:
            start, element = self._closed
            self._parts.append(Part(start, end, element))
            self._closed = None

    def _on_declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        self.encoding = encoding

    def _on_document_type(self, *_: object) -> None:
        raise _AbandonedError("document_type", "declares a document type, as no dump does", self._place)

    def _on_start(self, name: str, attributes: dict[str, str]) -> None:
        self._close_part(self._place)
        self._depth += 1
        if self._depth == 1:
            if not self.root:
                self.root = name
                self._closed = (self._place, Element(name, attributes))
            return
        if self._depth == 2:
            self._start, self._held = self._place, 0
        self._open.append(Element(name, attributes))
        self._texts.append([])
        if self._depth > MOST_DEPTH:
            detail = f"more than {MOST_DEPTH} elements within each other"
            raise _AbandonedError("too_deep", detail, self._place)
        self._hold(_ELEMENT_CHARACTERS + sum(map(len, attributes.values())))

    def _on_text(self, text: str) -> None:
        if self._open:
            self._texts[-1].append(text)
            self._hold(len(text))

    def _hold(self, characters: int) -> None:
        self._held += characters
        if self._held > self._limit:
            raise _AbandonedError("too_long", f"longer than {self._limit} characters", self._place)

    def _on_end(self, _name: str) -> None:
        self._close_part(self._place)
        self._depth -= 1
        if not self._open:
            return
        element = self._open.pop()
        element.text = "".join(self._texts.pop())
        if self._open:
            self._open[-1].children.append(element)
        else:
            self._closed = (self._start, element)
