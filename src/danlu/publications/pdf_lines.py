"""The text layer of a PDF as lines with their places and sizes, its outline and what it says of itself.

Decides: order is that in which the file draws its text; turned text (stamps on the margin) is left out; a page with
pictures or shapes but no text has no text layer, one whose characters are mostly without meaning (private use,
undecodable) is unreadable. Files that need a password, or whose owner forbids copying, are refused. Costs: PDFium
(through pypdfium2), 100-200 pages a second; the lines of all pages in memory.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from danlu.errors import MissingError

MOST_PAGES = 20_000
UNREADABLE_SHARE = 0.3

_COPYING, _WITHOUT_ENCRYPTION = 16, -1
_BREAK = re.compile("\r\n|[\ufffe\x02\r\n]")
_UNREADABLE = re.compile("[\x00-\x08\x0e-\x1f\ue000-\uf8ff\ufffd]")
_MONOSPACED = re.compile(
    r"mono|courier|cursor|consol|typewriter|fixed|menlo|inconsolata|tt(?:\d|-|$)", re.IGNORECASE
)
_LIGATURES = {
    **dict(zip(range(0xFB00, 0xFB07), ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True)),
    0x00: None,
    0xA0: " ",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it is drawn; places in points (1/72 inch) from the page's lower left corner."""

    text: str
    left: float
    right: float
    bottom: float
    size: float
    """Of its font, in points."""
    is_monospaced: bool


class Page(NamedTuple):
    """The lines of a page in the order in which they are drawn, and its height in points."""

    lines: tuple[Line, ...]
    height: float


class Entry(NamedTuple):
    """A line of the outline (the bookmarks): level 0 is the outermost, pages count from 0."""

    level: int
    title: str
    page: int


class Layer(NamedTuple):
    """What one file holds; pages without text, or with none that means anything, have no lines."""

    pages: list[Page]
    outline: list[Entry]
    said: dict[str, str]
    without_text: list[int]
    unreadable: list[int]


def read_layer(data: bytes) -> Layer:
    """All pages of a file. Raises ValueError where it is no PDF, damaged, encrypted or too long."""
    try:
        import pypdfium2 as pdfium
        import pypdfium2.raw as raw
    except ImportError as error:
        raise MissingError(f'PDF needs pypdfium2: {error}; pip install "danlu[corpus]"') from error
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        problem = (
            "is encrypted with a password" if "assword" in str(error) else f"is no readable PDF: {error}"
        )
        raise ValueError(problem) from error
    try:
        _refuse(document, raw)
        layer = Layer([], _outline(document, pdfium.PdfiumError), document.get_metadata_dict(), [], [])
        for number in range(len(document)):
            try:
                layer.pages.append(_read_page(document, number, layer, raw))
            except pdfium.PdfiumError:
                layer.pages.append(Page((), 0.0))
                layer.unreadable.append(number)
        return layer
    finally:
        document.close()


def _refuse(document: Any, raw: Any) -> None:
    if len(document) > MOST_PAGES:
        raise ValueError(f"has {len(document)} pages, more than {MOST_PAGES}")
    is_encrypted = raw.FPDF_GetSecurityHandlerRevision(document) != _WITHOUT_ENCRYPTION
    if is_encrypted and not raw.FPDF_GetDocPermissions(document) & _COPYING:
        raise ValueError("is encrypted, and its owner forbids copying its text")


def _outline(document: Any, failed: type[Exception]) -> list[Entry]:
    entries = []
    try:
        for mark in document.get_toc(max_depth=8):
            to = mark.get_dest()
            page = to.get_index() if to is not None else None
            title = " ".join(mark.get_title().replace("\x00", "").split())
            if page is not None and title:
                entries.append(Entry(mark.level, title, page))
    except failed:
        return []
    return entries


def _read_page(document: Any, number: int, layer: Layer, raw: Any) -> Page:
    page = document[number]
    try:
        text_page = page.get_textpage()
        text = text_page.get_text_range()
        if not text.strip():
            if raw.FPDFPage_CountObjects(page):
                layer.without_text.append(number)
            return Page((), page.get_height())
        letters = len(text) - text.count(" ")
        if len(_UNREADABLE.findall(_BREAK.sub("", text))) > UNREADABLE_SHARE * letters:
            layer.unreadable.append(number)
            return Page((), page.get_height())
        return Page(tuple(_lines(text, text_page, raw)), page.get_height())
    finally:
        # Its text page is closed with it.
        page.close()


def _lines(text: str, text_page: Any, raw: Any) -> Iterator[Line]:
    place, start = 0, 0
    for end in [*_BREAK.finditer(text), None]:
        stop = end.start() if end else len(text)
        line = text[start:stop]
        # PDFium counts UTF-16 units.
        units = len(line.encode("utf-16-le", "surrogatepass")) // 2
        # It joins what a hyphen at the end of a line divides, and marks the place.
        is_divided = bool(end) and end[0] in "\ufffe\x02" if end else False
        if line.strip():
            found = _place(line, place, units, text_page, raw)
            if found:
                yield Line(_clean(line) + ("-" if is_divided else ""), *found)
        place += units + (len(end[0]) if end else 0)
        start = end.end() if end else stop


def _clean(line: str) -> str:
    return " ".join(line.translate(_LIGATURES).split(" ")).strip()


def _place(
    line: str, place: int, units: int, text_page: Any, raw: Any
) -> tuple[float, float, float, float, bool] | None:
    """(left, right, bottom, size, whether it is monospaced), None for turned text."""
    count = text_page.count_chars()
    first = min(place + len(line) - len(line.lstrip()), count - 1)
    last = min(place + units - 1, count - 1)
    places = [first + (last - first) * part // 4 for part in range(5)]
    matrix = raw.FS_MATRIX()
    raw.FPDFText_GetMatrix(text_page, last, matrix)
    if abs(matrix.b) > abs(matrix.a):
        return None
    scale = math.hypot(matrix.c, matrix.d) or 1.0
    # The largest of a line: small capitals and raised signs are smaller; a painted initial is the first alone.
    size = scale * max(raw.FPDFText_GetFontSize(text_page, place) for place in places[1:])
    left, bottom, _, _ = text_page.get_charbox(first, loose=True)
    right = text_page.get_charbox(last, loose=True)[2]
    # A name in another font within a sentence does not make the line one of code.
    is_monospaced = all(_is_monospaced(text_page, place, raw) for place in places)
    return left, right, bottom, round(size, 1), is_monospaced


def _is_monospaced(text_page: Any, place: int, raw: Any) -> bool:
    flags = ctypes.c_int()
    name = ctypes.create_string_buffer(128)
    if not raw.FPDFText_GetFontInfo(text_page, place, name, 128, flags):
        # A space that PDFium found between two words has no font.
        return True
    return bool(flags.value & 1) or bool(_MONOSPACED.search(name.value.decode("utf-8", "replace")))
