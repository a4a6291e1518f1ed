"""Markdown to a document a section: each heading opens one, under the headings above it.

Decides: headings are those that begin with # (CommonMark 0.31, section 4.2); a # in a fenced block of code is none.
The text of a section stays as it is written. Costs: one pass over the lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from danlu.extract.packed import Read
from danlu.extract.section import Extracted, Section
from danlu.formats.plain import read_plain
from danlu.formats.raw import Damage, Raw
from danlu.formats.sections import SECTION, Joined, Place, raws_of

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t](.*))?$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def read_markdown(read: Read, name: str, limit: int) -> Iterator[Raw | Damage]:
    """The sections of one file."""
    for whole in read_plain(read, name, "file", limit):
        if isinstance(whole, Damage):
            yield whole
            continue
        place = Place(name, whole.start, whole.end, name)
        found = replace(sections_of(whole.text), replaced=whole.replaced)
        yield from raws_of(found, place, Joined(SECTION, "", limit))


def sections_of(text: str) -> Extracted:
    """The sections of a text, with its first heading of the first level as the title."""
    sections: list[Section] = []
    path: list[tuple[int, str]] = []
    lines: list[str] = []
    fence = ""

    def close() -> None:
        body = "\n".join(lines).strip("\r\n")
        if body.strip():
            sections.append(Section(tuple(heading for _, heading in path if heading), body))
        lines.clear()

    # Nothing else ends a line, so that all else stays as it is written.
    for written in text.split("\n"):
        line = written.removesuffix("\r")
        mark = _FENCE.match(line)
        if fence:
            closes = mark and mark[1].startswith(fence) and not line[mark.end() :].strip(" \t")
            fence = "" if closes else fence
        elif mark:
            fence = mark[1]
        elif heading := _HEADING.match(line):
            close()
            level = len(heading[1])
            path[:] = [item for item in path if item[0] < level]
            path.append((level, _without_closing(heading[2] or "")))
            continue
        lines.append(written)
    close()
    title = next((one.headings[0] for one in sections if one.headings), "")
    return Extracted(tuple(sections), {"title": title} if title else {})


def _without_closing(heading: str) -> str:
    """The words of a heading; marks that close it stand alone behind a space."""
    heading = heading.strip()
    words = heading.rstrip("#")
    return words.rstrip() if not words or words[-1] in " \t" else heading
