"""Puts paragraphs, headings, list items, formulae and code of a source together into sections.

Decides: a paragraph is one line but for displayed formulae and forced line breaks, which stand on lines of their own;
footnotes and captions follow the paragraph in which they stand; list items follow one another without a blank line.
Where a reference was left out, so are the space before it and parentheses that held nothing else. Costs: nothing.
"""

from __future__ import annotations

from danlu.extract.section import Section

_INDENT = "  "
_OPENING, _CLOSING = ("(", "["), (")", "]")


class Paragraphs:
    """What was written so far: a line that is being written, finished blocks of a section, finished sections."""

    def __init__(self) -> None:
        self.sections: list[Section] = []
        self._path: list[tuple[int, str]] = []
        self._blocks: list[str] = []
        self._is_item: list[bool] = []
        self._parts: list[str] = []
        self._gaps: list[int] = []
        self._notes: list[str] = []
        self._marker = ""

    def write(self, text: str) -> None:
        """Text within a line."""
        if text.isspace():
            self.space()
        elif text:
            self._parts.append(text)

    def space(self) -> None:
        """White space, of which a row is one and the first of a line none."""
        if self._parts and not self._parts[-1][-1].isspace():
            self._parts.append(" ")

    def gap(self) -> None:
        """A reference was left out here."""
        if self._parts and self._parts[-1] == " ":
            self._parts.pop()
        self._gaps.append(len(self._parts))

    def line_break(self) -> None:
        """A line ends within a paragraph."""
        if self._parts and self._parts[-1] == " ":
            self._parts.pop()
        if self._parts and not self._parts[-1].endswith("\n"):
            self._parts.append("\n")

    def display(self, text: str) -> None:
        """Lines of their own within a paragraph, as they stand."""
        self.line_break()
        self._parts += [text, "\n"]

    def tab(self) -> None:
        """The next cell of a table's row."""
        if self._parts and self._parts[-1] == " ":
            self._parts.pop()
        self._parts.append("\t")

    def paragraph(self) -> None:
        """A paragraph ends, if there is one."""
        self._close_gaps()
        text = "".join(self._parts).strip()
        self._parts = []
        if text:
            self._add(self._marker + text, is_item=bool(self._marker))
            self._marker = ""
        for note in self._notes:
            self._add(note, is_item=False)
        self._notes = []

    def item(self, marker: str, depth: int) -> None:
        """What follows is an item of a list at a depth from 1."""
        self.paragraph()
        self._marker = f"{_INDENT * (depth - 1)}{marker} "

    def code(self, text: str) -> None:
        """Lines of code, as they stand."""
        self.paragraph()
        self._marker = ""
        self._add(text.strip("\n"), is_item=False)

    def note(self, text: str) -> None:
        """A footnote or a caption, to follow the paragraph that is being written."""
        if text:
            self._notes.append(text)

    def heading(self, level: int, title: str) -> None:
        """A section begins; an empty title ends the sections of its level."""
        self._close_section()
        self._path = [(other, text) for other, text in self._path if other < level]
        if title:
            self._path.append((level, title))

    def finish(self) -> tuple[Section, ...]:
        """The sections, of which only one with a heading has no text."""
        self._close_section()
        return tuple(self.sections)

    def one_line(self) -> str:
        """All that was written as one line, for a heading or a caption."""
        return " ".join(" ".join(section.text.split()) for section in self.finish())

    def _add(self, text: str, is_item: bool) -> None:
        if text.strip():
            self._blocks.append(text)
            self._is_item.append(is_item)

    def _close_gaps(self) -> None:
        for place in reversed(self._gaps):
            if not 0 < place < len(self._parts):
                continue
            before, behind = self._parts[place - 1], self._parts[place]
            if before.endswith(_OPENING) and behind.startswith(_CLOSING):
                before = before[:-1].rstrip()
                self._parts[place] = behind[1:]
                self._parts[place - 1] = before
                if not before and place > 1 and self._parts[place - 2] == " ":
                    self._parts[place - 2] = ""
        self._gaps = []

    def _close_section(self) -> None:
        self.paragraph()
        self._marker = ""
        parts: list[str] = []
        for number, block in enumerate(self._blocks):
            follows_item = number and self._is_item[number] and self._is_item[number - 1]
            parts += ["" if not number else "\n" if follows_item else "\n\n", block]
        text = "".join(parts)
        if text or self._path:
            self.sections.append(Section(tuple(title for _, title in self._path), text))
        self._blocks, self._is_item = [], []
