"""A chapter of XHTML to blocks: what a reader reads, without what guides him through the book.

Decides: lists become "- " and "1. " with two spaces a depth, rows of tables lines with tabs, preformatted text stays,
marks of notes become [1] and notes stay where they stand, formulae are the TeX that they carry. Left out: tables of
contents, page breaks, links back from notes, pictures, readings above characters (ruby), Project Gutenberg's notices.
Costs: 3-5 MB/s.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from danlu.extract.encoding import Decoded, decode_declared
from danlu.publications.blocks import HEADING, ITEM, PARAGRAPH, ROW, Block
from danlu.publications.markup import MalformedError, read_html, read_xml


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SKIPPED = _words("head script style nav svg template rt rp audio video iframe object canvas select")
_SKIPPED_TYPES = _words(
    "toc landmarks page-list loi lot index pagebreak backlink doc-toc doc-pagebreak doc-backlink doc-index"
)
_SKIPPED_CLASSES = _words("headerlink pg-boilerplate pagenum")
_BLOCKS = _words(
    """address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer form
    header hr legend main p section summary table tbody tfoot thead"""
)
_KINDS = {
    "ul": "list",
    "ol": "list",
    "menu": "list",
    "tr": "row",
    "td": "cell",
    "th": "cell",
    "pre": "pre",
    "math": "math",
    "annotation": "tex",
}
"""What is done at the end of an element, beside blocks, headings, links and items."""
MOST_BAD = 0.01
"""A page of which more places than this are no text in its encoding, NULs too, is none: random bytes have 2 %."""
_SPACES = re.compile(r"[ \t\r\n\f]+")
_HEADING = re.compile(r"h[1-6]")
_FIRST_LINES = re.compile(r"\A(?:[ \t]*\n)+")


class _Page:
    """Collects blocks from the events of a page; every element pushes how it ends on a stack."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.characters = self.linked = 0
        self._ends: list[tuple[str, int]] = []
        self._parts: list[str] = []
        self._tex = ""
        self._skipping = self._preformatted = self._cells = self._links = self._tables = 0
        self._heading = 0
        self._lists: list[int] = []
        self._mark = ""
        self._row: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """How the element changes what comes: see the file's docstring."""
        parent = self._ends[-1][0] if self._ends else ""
        kind = (
            "skip"
            if self._skipping or _is_skipped(name, attributes)
            else self._kind(name, attributes, parent)
        )
        if kind == "row":
            self._end_row()
        elif kind == "cell" and not self._row:
            self._flush()
        self._ends.append((kind, len(self._parts)))
        if kind == "skip":
            self._skipping += 1
        elif kind in ("block", "heading", "pre", "list", "item", "row", "inner"):
            self._flush()
        if kind == "heading":
            self._heading = int(name[1])
        elif name == "table":
            self._tables += 1
        elif kind == "pre":
            self._preformatted += 1
        elif kind == "list":
            # -1: bullets; otherwise the number of the last item.
            first = attributes.get("start", "1")
            self._lists.append(
                (int(first) - 1 if first.isascii() and first.isdigit() else 0) if name == "ol" else -1
            )
        elif kind == "item":
            self._mark = self._next_mark()
        elif kind == "cell":
            self._cells += 1
        elif kind in ("link", "note"):
            self._links += 1
        elif kind == "math":
            self._tex = attributes.get("alttext", "")

    def _kind(self, name: str, attributes: dict[str, str], parent: str) -> str:
        if name == "br":
            self._parts.append(" " if self._heading else "\n")
        elif name == "img" and len(attributes.get("alt", "")) == 1:
            # A painted initial: the first letter of its word.
            self._parts.append(attributes["alt"])
        elif name == "sup":
            return "sup"
        if name == "a":
            is_note = parent == "sup" or {attributes.get("type"), attributes.get("role")} & {
                "noteref",
                "doc-noteref",
            }
            return "note" if is_note and attributes.get("href") else "link" if "href" in attributes else ""
        if name == "li" and not self._cells:
            return "item"
        if self._cells and (name == "td" or name == "th" or name in _BLOCKS or name == "tr"):
            return "inner"
        if _HEADING.fullmatch(name) and not self._cells and not self._heading:
            return "heading"
        return _KINDS.get(name, "block" if name in _BLOCKS else "")

    def _next_mark(self) -> str:
        indent = "  " * (len(self._lists) - 1)
        if not self._lists or self._lists[-1] < 0:
            return f"{indent}- "
        self._lists[-1] += 1
        return f"{indent}{self._lists[-1]}. "

    def end(self, name: str) -> None:  # noqa: ARG002 - the stack knows which
        """Undoes what `start` did."""
        kind, place = self._ends.pop()
        if kind == "skip":
            self._skipping -= 1
        elif kind in ("block", "heading", "pre", "list", "item"):
            self._flush()
        if kind == "heading":
            self._heading = 0
        elif kind == "pre":
            self._preformatted -= 1
        elif kind == "list":
            self._lists.pop()
        elif kind == "item":
            self._mark = ""
        elif kind == "inner":
            self._parts.append("\n")
        elif kind == "cell":
            self._cells -= 1
            self._row.append("".join(self._parts[place:]))
            del self._parts[place:]
        elif kind == "row":
            self._end_row()
        elif kind in ("link", "note"):
            self._links -= 1
        if kind == "note":
            mark = "".join(self._parts[place:]).strip(" \n[]()")
            self._parts[place:] = [f"[{mark}]"] if mark else []
        elif kind == "tex":
            self._tex = "".join(self._parts[place:]).strip()
            del self._parts[place:]
        elif kind == "math" and self._tex:
            self._parts[place:] = [f"${self._tex}$"]

    def finished(self) -> list[Block]:
        """All blocks, the last being text behind the last element."""
        self._flush()
        return self.blocks

    def data(self, text: str) -> None:
        """Characters, as far as they are read."""
        if self._skipping:
            return
        text = text if self._preformatted else _SPACES.sub(" ", text)
        self._parts.append(text)
        self.characters += len(text)
        if self._links:
            self.linked += len(text)

    def _end_row(self) -> None:
        row, self._row = self._row, []
        # Text of a row outside of its cells stands before them.
        self._flush()
        self._write_row(row)

    def _write_row(self, row: list[str]) -> None:
        if len(row) == 1:
            lines = [line.strip() for line in row[0].split("\n")]
            self.blocks += [Block(PARAGRAPH, line) for line in lines if line]
        elif any(cell.strip() for cell in row):
            cells = [" ".join(cell.split()) for cell in row]
            self.blocks.append(Block(ROW, "\t".join(cells).rstrip(), self._tables))

    def _flush(self) -> None:
        """What was collected becomes a block."""
        if self._cells:
            self._parts.append("\n")
            return
        if self._row and not any(kind == "row" for kind, _ in self._ends):
            # Cells that stand in no row.
            row, self._row = self._row, []
            self._write_row(row)
        text = "".join(self._parts)
        self._parts.clear()
        if self._preformatted:
            text = _FIRST_LINES.sub("", "\n".join(line.rstrip() for line in text.split("\n"))).rstrip()
        else:
            text = "\n".join(_SPACES.sub(" ", line).strip(" ") for line in text.split("\n")).strip("\n")
        if not text or text.isspace():
            return
        if self._heading:
            self.blocks.append(Block(HEADING, " ".join(text.split()), self._heading))
        elif self._mark or any(kind == "item" for kind, _ in self._ends):
            mark = self._mark or "  " * len(self._lists)
            self.blocks.append(Block(ITEM, mark + text.replace("\n", "\n" + " " * len(mark))))
            self._mark = ""
        else:
            self.blocks.append(Block(PARAGRAPH, text))


def _is_skipped(name: str, attributes: dict[str, str]) -> bool:
    if name in _SKIPPED or "hidden" in attributes:
        return True
    types = {*attributes.get("type", "").split(), *attributes.get("role", "").split()}
    return bool(types & _SKIPPED_TYPES or _SKIPPED_CLASSES & set(attributes.get("class", "").split()))


class PageText(NamedTuple):
    """The blocks of a page, the share of its characters that are links, and how many places became U+FFFD."""

    blocks: list[Block]
    linked_share: float
    replaced: int


def page_blocks(data: bytes) -> PageText:
    """The blocks of one page of XHTML.

    Raises ValueError where it declares entities, is nested without end, or is text in no encoding that it names.
    """
    page, replaced = _Page(), 0
    try:
        read_xml(data, page)
    except MalformedError:
        page = _Page()
        decoded = _decode(data)
        replaced = decoded.replaced
        read_html(decoded.text, page)
    return PageText(page.finished(), page.linked / max(1, page.characters), replaced)


def _decode(data: bytes) -> Decoded:
    is_marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if is_marked:
        text = data.decode("utf-16", "replace")
        decoded = Decoded(text, text.count("\ufffd"))
    else:
        decoded = decode_declared(data, "cp1252")
    bad = decoded.replaced + decoded.text.count("\0")
    # Any bytes are UTF-16 of some script; of a page they give tags.
    if bad > max(1, MOST_BAD * len(decoded.text)) or (is_marked and "<" not in decoded.text):
        raise ValueError(f"cannot be decoded: places that are no text: {bad} of {len(decoded.text)}")
    return decoded
