"""Running heads, feet and page numbers: the lines at the edges of pages that come again from page to page.

Decides: lines that stand at the same height (to 3 points) within the four outermost of a page, on LEAST_PAGES pages or
more, are heads when most of them come again on another page, numbers aside; only what has no other line beyond it. In
shorter files a line that is the page's own number goes. Costs: nothing beside reading the pages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from danlu.publications.pdf_lines import Line, Page

LEAST_PAGES = 3
REPEATED_SHARE = 0.5
_DEPTH, _NEAR_POINTS = 4, 3.0
_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxlc]+")
_PAGE_NUMBER = re.compile(
    r"(?:page |p\. ?|[-–—] ?|第 ?)?(\d{1,5})(?: ?[-–—页頁]| ?(?:of|/|von|de|sur) ?\d{1,5})?", re.IGNORECASE
)


def without_running_heads(pages: Sequence[Page]) -> list[list[Line]]:
    """The lines of every page without its heads and feet, in their order."""
    dropped: list[set[int]] = [set() for _ in pages]
    for side in (1.0, -1.0):
        # Ordered from the edge inward.
        edges = [
            sorted(range(len(page.lines)), key=lambda i, page=page: -side * page.lines[i].bottom)[:_DEPTH]  # type: ignore[misc]
            for page in pages
        ]
        heights = _repeated_heights(pages, edges)
        for number, (page, edge) in enumerate(zip(pages, edges, strict=True)):
            for index in edge:
                line = page.lines[index]
                if not (_height(line) in heights or _is_own_number(line, page, number, len(pages))):
                    break
                dropped[number].add(index)
    return [
        [line for index, line in enumerate(page.lines) if index not in gone]
        for page, gone in zip(pages, dropped, strict=True)
    ]


def _repeated_heights(pages: Sequence[Page], edges: Sequence[Sequence[int]]) -> set[int]:
    forms: dict[int, Counter[str]] = {}
    for page, edge in zip(pages, edges, strict=True):
        for index in edge:
            line = page.lines[index]
            forms.setdefault(_height(line), Counter())[_form(line.text)] += 1
    heights = set()
    for height, counts in forms.items():
        all_lines = sum(counts.values())
        again = sum(count for count in counts.values() if count > 1)
        if all_lines >= LEAST_PAGES and again > REPEATED_SHARE * all_lines:
            heights.add(height)
    return heights


def _height(line: Line) -> int:
    return round(line.bottom / _NEAR_POINTS)


def _form(text: str) -> str:
    """A line with its numbers as one sign, so that page numbers are alike."""
    text = " ".join(text.lower().split())
    return "#" if _ROMAN.fullmatch(text) else _NUMBER.sub("#", text)


def _is_own_number(line: Line, page: Page, number: int, pages: int) -> bool:
    found = _PAGE_NUMBER.fullmatch(line.text)
    is_at_edge = not 0.12 < line.bottom / (page.height or 1.0) < 0.88
    return (
        pages < LEAST_PAGES
        and bool(found)
        and is_at_edge
        and found is not None
        and int(found[1]) == number + 1
    )
