"""What the styles and lists of a DOCX file mean: which are headings and of which level, which are numbered.

Decides: a heading is what Word's outline says (`outlineLvl` of the style or of what it is based on) or a built-in name
(heading 1, Title), which Word keeps in English whatever its language. Costs: nothing measurable.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

TITLE_LEVEL, BODY_OUTLINE = 1, 9
"""A title stands above the headings, whose levels are therefore 2 to 10; outline level 9 is body text."""
_MOST_BASES = 20


def value(element: Element | None, path: str) -> str:
    """The `val` of a descendant, "" where there is none."""
    found = element.find(path) if element is not None else None
    return found.get("val", "") if found is not None else ""


class Styles:
    """Paragraph styles by their ids."""

    def __init__(self, root: Element | None) -> None:
        found = root.iter("style") if root is not None else ()
        self._styles = {style.get("styleId", ""): style for style in found}

    def heading_level(self, paragraph: Element) -> int:
        """1 for a title, 2 and more for headings, 0 for a paragraph."""
        own = _outline(value(paragraph, "pPr/outlineLvl"))
        if own is not None:
            return own
        for style in self._chain(paragraph):
            name = value(style, "name").lower()
            if name == "title":
                return TITLE_LEVEL
            level = _outline(value(style, "pPr/outlineLvl"))
            if level is not None:
                return level
            if name.startswith("heading ") and name[8:].isdigit():
                return TITLE_LEVEL + int(name[8:])
        return 0

    def is_contents(self, paragraph: Element) -> bool:
        """Whether it is a line of a table of contents or of figures."""
        names = [value(style, "name").lower() for style in self._chain(paragraph)]
        return any(name.startswith("toc ") or name == "table of figures" for name in names)

    def list_of(self, paragraph: Element) -> tuple[str, int]:
        """(number of the list, depth) of an item; ("", 0) for what is none."""
        for element in (paragraph, *self._chain(paragraph)):
            number = value(element, "pPr/numPr/numId")
            if number:
                depth = value(element, "pPr/numPr/ilvl")
                return ("", 0) if number == "0" else (number, int(depth) if depth.isdigit() else 0)
        return "", 0

    def _chain(self, paragraph: Element) -> list[Element]:
        chain: list[Element] = []
        style = self._styles.get(value(paragraph, "pPr/pStyle"))
        # Styles can be based on one another in a circle.
        while style is not None and len(chain) < _MOST_BASES:
            chain.append(style)
            style = self._styles.get(value(style, "basedOn"))
        return chain


class Lists:
    """Numbers of list items, counted as they come."""

    def __init__(self, root: Element | None) -> None:
        self._bullets: set[tuple[str, int]] = set()
        self._counts: dict[tuple[str, int], int] = {}
        kinds = (
            {} if root is None else {kind.get("abstractNumId", ""): kind for kind in root.iter("abstractNum")}
        )
        for number in () if root is None else root.iter("num"):
            kind = kinds.get(value(number, "abstractNumId"))
            for level in () if kind is None else kind.iter("lvl"):
                if value(level, "numFmt") in ("bullet", "none"):
                    self._bullets.add((number.get("numId", ""), int(level.get("ilvl", "0"))))
        self._is_known = root is not None

    def mark(self, number: str, depth: int) -> str:
        """What stands before the next item of a list: "- " or "1. ", with two spaces a depth."""
        indent = "  " * min(depth, 8)
        if not self._is_known or (number, depth) in self._bullets:
            return f"{indent}- "
        for key in [key for key in self._counts if key[0] == number and key[1] > depth]:
            del self._counts[key]
        self._counts[number, depth] = self._counts.get((number, depth), 0) + 1
        return f"{indent}{self._counts[number, depth]}. "


def _outline(said: str) -> int | None:
    """The level of a heading (0: body text), None where nothing is said."""
    if not said.isdigit():
        return None
    return 0 if int(said) >= BODY_OUTLINE else TITLE_LEVEL + 1 + int(said)
