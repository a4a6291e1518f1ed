"""Lines of a page to paragraphs: where one ends is seen from gaps, indents, short lines and marks of lists.

Decides: lines of one size at the usual distance belong together; in such a group a line ends a paragraph where the
next line's first word would have fit behind it, or the next is indented behind a finished sentence. A group in which
that holds for half of the lines is a table or verse and keeps its lines, as monospaced text does. A paragraph goes on
over a page's end where its sentence does. Costs: nothing beside reading the pages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from danlu.publications.lines import is_unspaced
from danlu.publications.pdf_lines import Line

_BULLET = re.compile(r"[•◦▪■●○‣∙] ?(?=\S)|[·*–—-] (?=\S)")
_ITEM = re.compile(
    r"(?:[•◦▪■●○‣∙·*–—-]|\(?(?:\d{1,2}|[a-z])[.)]) (?=\S)|第?[一二三四五六七八九十]{1,3}[、．]"
)
_DASHES = "·*–—-"
_ENDED = re.compile(r"[.!?:;。！？：；…][\"'”’」』)）\]]*$")
_SAME_SIZE = 0.6


@dataclass(slots=True)
class Paragraph:
    """Lines that belong together; those of a table, verse or code are `is_kept` apart."""

    lines: list[Line]
    page: int
    is_kept: bool = False

    @property
    def size(self) -> float:
        """Of its first line, in points."""
        return self.lines[0].size

    @property
    def is_item(self) -> bool:
        """Whether it begins with a bullet or a number."""
        return not self.is_kept and bool(_ITEM.match(self.lines[0].text))


def body_size(pages: Iterable[Sequence[Line]]) -> float:
    """The size in which most characters are set."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page:
            sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def line_distance(pages: Iterable[Sequence[Line]], size: float) -> float:
    """The usual distance of two lines of a size, in points."""
    gaps: Counter[float] = Counter()
    for page in pages:
        for above, below in pairwise(page):
            gap = above.bottom - below.bottom
            if above.size == below.size == size and 0.8 * size < gap < 3 * size:
                gaps[round(gap * 2) / 2] += 1
    return gaps.most_common(1)[0][0] if gaps else 1.2 * size


def paragraphs(page: Sequence[Line], number: int, distance: float, size: float) -> list[Paragraph]:
    """The paragraphs of one page; `distance` is that of lines of the size `size`."""
    found: list[Paragraph] = []
    group: list[Line] = []
    for line in page:
        if group and not _is_near(group[-1], line, distance / (size or 1.0)):
            found += _split(group, number)
            group = []
        group.append(line)
    return found + (_split(group, number) if group else [])


def _is_near(above: Line, below: Line, distance_per_size: float) -> bool:
    if abs(above.size - below.size) > _SAME_SIZE or above.is_monospaced != below.is_monospaced:
        return False
    gap = above.bottom - below.bottom
    return -0.3 * below.size < gap < 1.35 * distance_per_size * max(above.size, below.size)


def _split(group: list[Line], number: int) -> list[Paragraph]:
    if group[0].is_monospaced:
        return [Paragraph(group, number, is_kept=True)]
    right = max(line.right for line in group)
    is_short = [_would_fit(above, below, right) for above, below in pairwise(group)]
    has_items = any(_ITEM.match(line.text) for line in group)
    if len(group) > 2 and not has_items and sum(is_short) * 2 > len(is_short):
        return [Paragraph(group, number, is_kept=True)]
    found = [Paragraph([group[0]], number)]
    for (above, below), short in zip(pairwise(group), is_short, strict=True):
        is_indented = below.left > above.left + 0.8 * below.size and bool(_ENDED.search(above.text))
        if short or _begins_item(above, below) or (is_indented and not _ITEM.match(above.text)):
            found.append(Paragraph([below], number))
        else:
            found[-1].lines.append(below)
    return found


def _begins_item(above: Line, below: Line) -> bool:
    # A dash may also stand within a sentence.
    return bool(_ITEM.match(below.text)) and (below.text[0] not in _DASHES or bool(_ENDED.search(above.text)))


def _would_fit(above: Line, below: Line, right: float) -> bool:
    """Whether the next line's first word had room behind this line."""
    is_same_row = above.bottom - below.bottom < 0.5 * below.size and below.left > above.left
    if above.text.endswith("-") or is_same_row:
        return False
    word = below.text.split(" ", 1)[0]
    width = (below.right - below.left) / max(1, len(below.text))
    # Unspaced scripts break anywhere, so that one character decides.
    letters = 2 if is_unspaced(word[0]) else len(word) + 1
    return above.right + letters * width < right - 0.5 * above.size


def join_over_pages(pages: Iterable[list[Paragraph]], body: float) -> list[Paragraph]:
    """All paragraphs; one that a page or column ends in the middle of a sentence goes on with the next."""
    found: list[Paragraph] = []
    last: Paragraph | None = None
    for page in pages:
        for index, part in enumerate(page):
            is_first = index == 0 or part.lines[0].bottom > page[index - 1].lines[-1].bottom
            if is_first and last and _goes_on(last, part):
                last.lines += part.lines
                continue
            found.append(part)
            # A footnote does not come between.
            last = part if abs(part.size - body) <= _SAME_SIZE else last
    return found


def _goes_on(before: Paragraph, after: Paragraph) -> bool:
    if before.is_kept or after.is_kept or after.is_item or after.page - before.page > 1:
        return False
    if abs(before.size - after.size) > _SAME_SIZE:
        return False
    end, begin = before.lines[-1].text, after.lines[0].text
    if end.endswith("-"):
        return True
    is_within = begin[0].islower() or (_is_uncased(begin[0]) and _is_uncased(end[-1]))
    return not _ENDED.search(end) and is_within


def _is_uncased(character: str) -> bool:
    # A script without capitals does not show where a sentence begins.
    return character.isalpha() and character.lower() == character.upper()


def without_bullet(text: str) -> str:
    """An item with one kind of bullet."""
    return _BULLET.sub("- ", text, count=1) if _BULLET.match(text) else text


def kept_lines(lines: Sequence[Line]) -> str:
    """Lines as they stand; those of monospaced text with their indents."""
    left = min(line.left for line in lines)
    texts = []
    for line in lines:
        width = (line.right - line.left) / max(1, len(line.text))
        indent = round((line.left - left) / width) if line.is_monospaced and width > 0 else 0
        texts.append(" " * min(indent, 80) + line.text)
    return "\n".join(texts)
