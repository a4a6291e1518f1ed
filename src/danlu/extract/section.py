"""What an extractor finds in a book, a paper or an article: sections with their heading paths, and metadata.

Decides: how sections become one text, and what stands in front of a section that is a document of its own. Costs:
nothing measurable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_BETWEEN = " > "


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document: the headings above it from the outermost to its own, and its text without them."""

    headings: tuple[str, ...]
    text: str

    @property
    def path(self) -> str:
        """The headings as one line."""
        return _BETWEEN.join(self.headings)


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was found in one document."""

    sections: tuple[Section, ...]
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Such as title, author, language, date: what the format itself says of the document."""
    damages: tuple[tuple[str, str], ...] = ()
    """(reason, detail) of what could not be read, e.g. ("no_text_layer", "pages 3 to 9")."""
    replaced: int = 0
    """Undecodable places that became U+FFFD."""


def join_sections(sections: Sequence[Section]) -> str:
    """One text: each new heading on a line of its own, once, with a blank line around it."""
    parts: list[str] = []
    open_headings: tuple[str, ...] = ()
    for section in sections:
        same = 0
        while (
            same < min(len(open_headings), len(section.headings))
            and open_headings[same] == section.headings[same]
        ):
            same += 1
        parts += section.headings[same:]
        parts += [section.text] if section.text else []
        open_headings = section.headings
    return "\n\n".join(parts)


def section_text(section: Section) -> str:
    """A section as a document of its own: its heading path on the first line."""
    return f"{section.path}\n\n{section.text}" if section.headings else section.text
