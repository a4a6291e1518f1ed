"""Word documents (DOCX) to sections: paragraphs, lists and tables under their headings.

Decides: text as it stands after all tracked changes (ECMA-376, part 1, section 17): deleted, moved-away and hidden
text goes. Left out: headers and footers (own parts, never read), page-number fields, tables of contents, comments,
pictures. A footnote follows the paragraph that refers to it. Formulae are kept as a line of their letters and counted
as a damage, as is a part that is embedded in another format. Costs: 5-10 MB/s of XML, ten times it in memory.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from danlu.extract.section import Extracted
from danlu.publications.blocks import HEADING, ITEM, PARAGRAPH, ROW, Block, to_sections
from danlu.publications.docx_styles import TITLE_LEVEL, Lists, Styles
from danlu.publications.markup import read_tree
from danlu.publications.zip_guard import Members

_LEFT_OUT = frozenset(
    (
        "del",
        "moveFrom",
        "Fallback",
        "drawing",
        "pict",
        "object",
        "commentReference",
        "instrText",
        "delText",
        "rPr",
        "pPr",
    )
)
_SAYS = frozenset(
    (
        "t",
        "tab",
        "noBreakHyphen",
        "cr",
        "ptab",
        "br",
        "oMath",
        "fldSimple",
        "footnoteReference",
        "endnoteReference",
    )
)
"""What is silent in a field that is left out; elements around them are passed through, for the field's own end."""
_FIELD_LEFT_OUT = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES|PAGEREF|TOC|TC|XE|INDEX)\b", re.IGNORECASE)
_CHARACTERS = {"tab": "\t", "noBreakHyphen": "-", "cr": "\n", "ptab": "\t"}
_NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
_METADATA = {
    "title": "title",
    "creator": "author",
    "language": "language",
    "created": "date",
    "modified": "modified",
}


def extract(data: bytes) -> Extracted:
    """The document's sections and metadata.

    Raises ValueError where it is no DOCX, is encrypted, damaged, or expands too far.
    """
    members = Members(data)
    main = _main_part(members)
    root = read_tree(members.read(main))
    body = root.find("body")
    if body is None:
        raise ValueError(f"{main} has no body: is it a Word document?")
    word = _Word(members, posixpath.dirname(main))
    blocks = list(word.blocks(body))
    metadata = _metadata(members)
    if "title" not in metadata:
        titles = [block.text for block in blocks if block.kind == HEADING and block.level == TITLE_LEVEL]
        metadata |= {"title": titles[0]} if titles else {}
    return Extracted(tuple(to_sections(blocks)), metadata, tuple(word.damages()))


def _main_part(members: Members) -> str:
    if "_rels/.rels" not in members:
        raise ValueError("is no DOCX: has no _rels/.rels")
    for relation in read_tree(members.read("_rels/.rels")).iter("Relationship"):
        if relation.get("Type", "").endswith("/officeDocument"):
            return posixpath.normpath(relation.get("Target", "")).lstrip("/")
    raise ValueError("is no DOCX: its _rels/.rels names no document")


def _part(members: Members, name: str) -> Element | None:
    return read_tree(members.read(name)) if name in members else None


def _metadata(members: Members) -> dict[str, str]:
    root = _part(members, "docProps/core.xml")
    metadata: dict[str, str] = {}
    for name, key in _METADATA.items():
        found = root.find(name) if root is not None else None
        said = " ".join("".join(found.itertext()).split()) if found is not None else ""
        if said:
            metadata[key] = said
    return metadata


class _Word:
    """One document: what its paragraphs mean, and what of them could not be kept."""

    def __init__(self, members: Members, folder: str) -> None:
        self._styles = Styles(_part(members, f"{folder}/styles.xml"))
        self._lists = Lists(_part(members, f"{folder}/numbering.xml"))
        self._notes: dict[tuple[str, str], Element] = {}
        for kind, tag in (("footnotes", "footnote"), ("endnotes", "endnote")):
            root = _part(members, f"{folder}/{kind}.xml")
            for note in root.iter(tag) if root is not None else ():
                if note.get("type", "normal") == "normal":
                    self._notes[kind, note.get("id", "")] = note
        # Complex fields: of each that is open, whether its code, or a result that is left out, is running.
        self._fields: list[_Field] = []
        self._waiting: list[tuple[str, Element]] = []
        self._boxes: list[Element] = []
        self._noted = self._formulae = self._embedded = self._tables = 0

    def damages(self) -> list[tuple[str, str]]:
        """What was kept badly or not at all."""
        said = [
            ("formula_flattened", self._formulae),
            ("embedded_part", self._embedded),
            ("field_without_end", len(self._fields)),
        ]
        return [(reason, f"{count} in the document") for reason, count in said if count]

    def blocks(self, parent: Element) -> Iterator[Block]:
        """The blocks of a body, a cell or a text box in their order."""
        for child in parent:
            if child.tag == "p":
                yield from self._paragraph(child)
            elif child.tag == "tbl":
                yield from self._table(child)
            elif child.tag == "altChunk":
                self._embedded += 1
            elif child.tag == "sdt":
                gallery = child.find("sdtPr/docPartObj/docPartGallery")
                content = child.find("sdtContent")
                is_contents = gallery is not None and gallery.get("val", "") == "Table of Contents"
                if content is not None and not is_contents:
                    yield from self.blocks(content)
            elif child.tag in ("ins", "moveTo", "customXml", "smartTag", "AlternateContent", "Choice"):
                yield from self.blocks(child)

    def _paragraph(self, paragraph: Element) -> Iterator[Block]:
        text = "".join(self._runs(paragraph))
        text = "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")
        if text.strip() and not self._styles.is_contents(paragraph):
            yield self._block(paragraph, text)
        boxes, self._boxes = self._boxes, []
        for box in boxes:
            yield from self.blocks(box)
        waiting, self._waiting = self._waiting, []
        for mark, note in waiting:
            inner = " ".join(block.text for block in self.blocks(note))
            yield Block(PARAGRAPH, f"{mark} {inner.strip()}")

    def _block(self, paragraph: Element, text: str) -> Block:
        level = self._styles.heading_level(paragraph)
        if level:
            return Block(HEADING, " ".join(text.split()), level)
        number, depth = self._styles.list_of(paragraph)
        if not number:
            return Block(PARAGRAPH, text)
        mark = self._lists.mark(number, depth)
        return Block(ITEM, mark + text.replace("\n", "\n" + " " * len(mark)))

    def _table(self, table: Element) -> Iterator[Block]:
        self._tables += 1
        number = self._tables
        for row in _children(table, "tr"):
            cells = [list(self.blocks(cell)) for cell in _children(row, "tc")]
            if len(cells) == 1:
                yield from cells[0]
                continue
            texts = [" ".join(" ".join(block.text for block in cell).split()) for cell in cells]
            if any(texts):
                yield Block(ROW, "\t".join(texts).rstrip(), number)

    def _runs(self, parent: Element) -> Iterator[str]:
        for child in parent:
            tag = child.tag
            if tag == "fldChar":
                self._field(child.get("fldCharType", ""))
            elif tag == "instrText" and self._fields:
                self._fields[-1].code += child.text or ""
            elif tag in ("drawing", "pict", "Choice"):
                self._boxes += _outermost_boxes(child) if tag != "Choice" else []
                yield from self._runs(child) if tag == "Choice" else ()
            elif tag in _LEFT_OUT or (tag in _SAYS and any(field.is_left_out() for field in self._fields)):
                continue
            elif tag == "t":
                yield child.text or ""
            elif tag in _CHARACTERS:
                yield _CHARACTERS[tag]
            elif tag == "br":
                yield "" if child.get("type", "") in ("page", "column") else "\n"
            elif tag in _NOTES:
                yield self._note(_NOTES[tag], child.get("id", ""))
            elif tag == "oMath":
                self._formulae += 1
                yield "".join(letters.text or "" for letters in child.iter("t"))
            elif tag == "fldSimple":
                yield from () if _FIELD_LEFT_OUT.match(child.get("instr", "")) else self._runs(child)
            elif tag != "r" or not _is_hidden(child):
                yield from self._runs(child)

    def _field(self, kind: str) -> None:
        if kind == "begin":
            self._fields.append(_Field())
        elif kind == "separate" and self._fields:
            self._fields[-1].has_result = True
        elif kind == "end" and self._fields:
            self._fields.pop()

    def _note(self, kind: str, number: str) -> str:
        # Each once: a note may refer to itself.
        note = self._notes.pop((kind, number), None)
        if note is None:
            return ""
        self._noted += 1
        self._waiting.append((f"[{self._noted}]", note))
        return f"[{self._noted}]"


class _Field:
    def __init__(self) -> None:
        self.code, self.has_result = "", False

    def is_left_out(self) -> bool:
        return not self.has_result or bool(_FIELD_LEFT_OUT.match(self.code))


def _children(parent: Element, tag: str) -> Iterator[Element]:
    """Rows of a table or cells of a row, also those in a content control."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in ("sdt", "sdtContent", "customXml", "ins"):
            yield from _children(child, tag)


def _outermost_boxes(parent: Element) -> Iterator[Element]:
    """The text boxes of a drawing; one that is nested in another is read with that."""
    for child in parent:
        if child.tag == "txbxContent":
            yield child
        elif child.tag != "Fallback":
            yield from _outermost_boxes(child)


def _is_hidden(run: Element) -> bool:
    hidden = run.find("rPr/vanish")
    return hidden is not None and hidden.get("val", "1") not in ("0", "false", "off")
