"""Books, papers and articles to documents: one each, or one a section.

Decides: a section that is a document of its own begins with its heading path, which is also kept as `headings`; in
books and articles their title stands in front of it. Parts of one file stay on one side of the split. A template joins
what the format says of the document with its text; what it does not say is empty. Costs: nothing beside the extraction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from danlu.extract.record import Fields, text_of
from danlu.extract.section import Extracted, Section, join_sections, section_text
from danlu.formats.raw import Damage, Raw

SECTION = "section"
"""The value of `document` that makes each section a document."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document lies in its source; `id` is its own there, None where it has none."""

    name: str
    start: int
    end: int
    group: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """How what was found becomes documents: file or section each, by a template or as it is, up to `limit` bytes."""

    document: str
    template: str
    limit: int


def raws_of(found: Extracted, place: Place, joined: Joined) -> Iterator[Raw | Damage]:
    """The documents of what was extracted from one place, and its damages."""
    for reason, detail in found.damages:
        yield Damage(reason, place.name, detail=f"{place.id}: {detail}" if place.id else detail)
    metadata = {name: value for name, value in found.metadata.items() if value}
    # What could not be decoded is counted once, with the first document.
    replaced = found.replaced
    if joined.document != SECTION:
        yield _raw(join_sections(found.sections), metadata, place, place.id, joined, replaced)
        return
    parts = [(number, section) for number, section in enumerate(found.sections) if section.text]
    for number, section in parts:
        path = {**metadata, "headings": section.path}
        ident = None if place.id is None else f"{place.id}#{number}"
        raw = _raw(section_text(section), path, place, ident, joined, replaced)
        yield raw
        replaced = 0 if isinstance(raw, Raw) else replaced
    if not parts:
        yield _without_text(place.name, place.id)


def titled(found: Extracted, joined: Joined) -> Extracted:
    """What was found, with the title in front of each heading path, where sections are documents.

    Not where the path begins with it already, or the template says it.
    """
    title = " ".join(found.metadata.get("title", "").split())
    if not title or joined.document != SECTION or "title" in Fields(template=joined.template).of_text:
        return found

    def below(section: Section) -> Section:
        first = " ".join(section.headings[0].split()) if section.headings else ""
        if first.casefold() == title.casefold():
            return section
        return Section((title, *section.headings), section.text)

    return replace(found, sections=tuple(map(below, found.sections)))


def _without_text(name: str, ident: str | None) -> Damage:
    return Damage("no_text", name, detail=ident or "nothing but markup")


def _raw(
    text: str, metadata: dict[str, str], place: Place, ident: str | None, joined: Joined, replaced: int
) -> Raw | Damage:
    if not text.strip():
        return _without_text(place.name, ident)
    if joined.template:
        fields = Fields(template=joined.template)
        text = text_of({**dict.fromkeys(fields.of_text), **metadata, "text": text}, fields)
    if len(text) > joined.limit or len(text.encode(errors="replace")) > joined.limit:
        return Damage(
            "too_long", place.name, detail=f"{ident or 'its text'}: longer than {joined.limit} bytes"
        )
    return Raw(text, place.name, place.start, place.end, place.group, ident, replaced, metadata)
