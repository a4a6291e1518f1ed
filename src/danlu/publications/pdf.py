"""PDF files with a text layer to sections: headings, paragraphs joined over lines and pages, no page numbers.

Decides: headings are what the outline (bookmarks) names, where most of it is found on its pages, else lines of a
larger size, where they are short.
Left out: running heads and feet, tables of contents with leaders. Pages without a text layer (scans), and
pages whose characters mean nothing, are damages with their numbers. Costs: 100 pages a second.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from danlu.extract.section import Extracted
from danlu.publications.blocks import HEADING, ITEM, PARAGRAPH, Block, to_sections
from danlu.publications.lines import Words, join_lines
from danlu.publications.pdf_lines import Entry, Layer, Line, read_layer
from danlu.publications.pdf_paragraphs import (
    Paragraph,
    body_size,
    join_over_pages,
    kept_lines,
    line_distance,
    paragraphs,
    without_bullet,
)
from danlu.publications.running_heads import without_running_heads

CONTENTS_SHARE = 0.4
"""A page of which more lines than this have leaders is a table of contents."""
FOUND_SHARE = 0.5
"""An outline of whose lines fewer are found on their pages is of no use."""
LARGER = 1.1
"""A heading by size is larger than the body by this."""
MOST_LEVELS = 4
_MOST_LINES, _MOST_CHARACTERS = 3, 160
_IN_FRONT = re.compile(
    r"^(?:(?:chapter|part|appendix|section|kapitel|teil|chapitre|第)\b)?[\W\d]*(?:[a-z]\.[\d.]*\s)?"
)
_LETTER = re.compile(r"[^\W\d_]")
_LEADERS = re.compile(r"(?:\. ?){4,}\s*[\divxlc]{1,6}$|(?:… ?){2,}\s*\d{1,5}$")
_ENTRY = re.compile(r"\s[\divxlc]{1,6}$")
_CONTENTS = (
    "contents",
    "table of contents",
    "inhaltsverzeichnis",
    "table des matières",
    "índice",
    "目录",
    "目次",
)
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?")
_SAID = {"Title": "title", "Author": "author"}


def extract(data: bytes) -> Extracted:
    """The file's sections, its title, author, date and pages; what could not be read of it is in the damages.

    Raises ValueError where it is no PDF, damaged, encrypted or too long, MissingError without pypdfium2.
    """
    layer = read_layer(data)
    pages = [_without_contents(page) for page in without_running_heads(layer.pages)]
    size = body_size(pages)
    distance = line_distance(pages, size)
    found = [paragraphs(page, number, distance, size) for number, page in enumerate(pages)]
    levels = _heading_levels(found, layer.outline, size)
    joined = join_over_pages(found, size)
    words = Words([line.text for page in pages for line in page])
    blocks = [_block(paragraph, levels.get(id(paragraph), 0), words) for paragraph in joined]
    return Extracted(tuple(to_sections(blocks)), _metadata(layer), _damages(layer))


def _without_contents(page: Sequence[Line]) -> list[Line]:
    kept = [line for line in page if not _LEADERS.search(line.text[-300:])]
    if len(page) - len(kept) <= CONTENTS_SHARE * len(page):
        return kept
    # Its chapters have a page number but no leaders.
    return [line for line in kept if not _ENTRY.search(line.text) and line.text.lower() not in _CONTENTS]


def _block(paragraph: Paragraph, level: int, words: Words) -> Block:
    if paragraph.is_kept and not level:
        return Block(PARAGRAPH, kept_lines(paragraph.lines))
    text = join_lines([line.text for line in paragraph.lines], words)
    if level:
        return Block(HEADING, text, level)
    return Block(ITEM, without_bullet(text)) if paragraph.is_item else Block(PARAGRAPH, text)


def _heading_levels(
    pages: Sequence[Sequence[Paragraph]], outline: Sequence[Entry], body: float
) -> dict[int, int]:
    """The level (1 is the outermost) of every paragraph that is a heading, by its `id`."""
    found = _by_outline(pages, outline)
    if outline and len(found) >= FOUND_SHARE * len(outline):
        return found
    return _by_size(pages, body)


def _by_outline(pages: Sequence[Sequence[Paragraph]], outline: Sequence[Entry]) -> dict[int, int]:
    levels: dict[int, int] = {}
    for entry in outline:
        wanted = _words(entry.title)
        # A heading that has no room left on its page stands on the next.
        for page in pages[max(0, entry.page) : entry.page + 2]:
            same = next((part for part in page if id(part) not in levels and _says(part, wanted)), None)
            if same:
                levels[id(same)] = entry.level + 1
                break
    return levels


def _says(paragraph: Paragraph, wanted: str) -> bool:
    if len(paragraph.lines) > _MOST_LINES:
        return False
    return _words(" ".join(line.text for line in paragraph.lines)) == wanted


def _words(text: str) -> str:
    text = text.lower().replace("’", "'")
    rest = _IN_FRONT.sub("", text)
    return "".join((rest or text).split())


def _by_size(pages: Sequence[Sequence[Paragraph]], body: float) -> dict[int, int]:
    large = [part for page in pages for part in page if _is_large(part, body)]
    counts = Counter(round(part.size) for part in large)
    ranks = {size: rank for rank, size in enumerate(sorted(counts, reverse=True)[:MOST_LEVELS], 1)}
    return {id(part): ranks[round(part.size)] for part in large if round(part.size) in ranks}


def _is_large(paragraph: Paragraph, body: float) -> bool:
    if paragraph.size < LARGER * body or len(paragraph.lines) > _MOST_LINES:
        return False
    text = " ".join(line.text for line in paragraph.lines)
    return len(text) <= _MOST_CHARACTERS and bool(_LETTER.search(text))


def _metadata(layer: Layer) -> dict[str, str]:
    metadata = {key: " ".join(layer.said.get(name, "").split()) for name, key in _SAID.items()}
    date = _DATE.match(layer.said.get("CreationDate", ""))
    metadata["date"] = "-".join(part for part in date.groups() if part) if date else ""
    metadata["pages"] = str(len(layer.pages))
    return {key: value for key, value in metadata.items() if value}


def _damages(layer: Layer) -> tuple[tuple[str, str], ...]:
    found = (("no_text_layer", layer.without_text), ("unreadable_text", layer.unreadable))
    return tuple((reason, page_ranges(pages)) for reason, pages in found if pages)


def page_ranges(pages: Sequence[int]) -> str:
    """ "pages 3, 5 to 7", counted from 1, of numbers that count from 0."""
    ranges: list[list[int]] = []
    for page in pages:
        if ranges and page == ranges[-1][1] + 1:
            ranges[-1][1] = page
        else:
            ranges.append([page, page])
    said = [f"{first + 1}" if first == last else f"{first + 1} to {last + 1}" for first, last in ranges]
    return ("page " if len(pages) == 1 else "pages ") + ", ".join(said)
