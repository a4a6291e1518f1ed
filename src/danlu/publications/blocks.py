"""From what a page holds in its order (headings, paragraphs, list items, rows) to sections with heading paths.

Decides: paragraphs stand apart by a blank line, items of a list and rows of a table by a line; a heading opens a
section below the nearest heading of a smaller level; a heading under which nothing stands is a section without text.
Costs: nothing measurable.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from danlu.extract.section import Section

HEADING, PARAGRAPH, ITEM, ROW = "heading", "paragraph", "item", "row"


class Block(NamedTuple):
    """A heading of a level (1 is the outermost), or text that stands by itself; rows of one table share a level."""

    kind: str
    text: str
    level: int = 0


def to_sections(blocks: Iterable[Block], above: tuple[str, ...] = ()) -> list[Section]:
    """The sections of a part whose headings stand below those of `above`."""
    sections: list[Section] = []
    path: list[Block] = []
    texts: list[Block] = []
    is_open = False

    def close(next_level: int) -> None:
        has_below = bool(path) and next_level > path[-1].level
        if texts or (is_open and not has_below):
            sections.append(Section(_path(above, path), join_blocks(texts)))
        texts.clear()

    for block in blocks:
        if block.kind != HEADING:
            texts.append(block)
            continue
        close(block.level)
        while path and path[-1].level >= block.level:
            path.pop()
        path.append(block)
        is_open = True
    close(0)
    return sections


def _path(above: tuple[str, ...], path: list[Block]) -> tuple[str, ...]:
    headings = tuple(block.text for block in path)
    # A part that is named in the contents opens with the same words.
    return above + headings[1:] if above and headings and above[-1] == headings[0] else above + headings


def join_blocks(blocks: Iterable[Block]) -> str:
    """The text of blocks that are no headings."""
    text: list[str] = []
    before = None
    for block in blocks:
        if before:
            is_next = block.kind != PARAGRAPH and (before.kind, before.level) == (block.kind, block.level)
            text.append("\n" if is_next else "\n\n")
        text.append(block.text)
        before = block
    return "".join(text)
