"""Dumps to documents: the articles of a MediaWiki export, the questions of Stack Exchange with their answers.

Decides: a document keeps the dump's number of it as its id, which is also its group. Costs: the streaming parser, and
one question to the guarded process a document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from danlu.dumps.found import Broken, Found
from danlu.dumps.stackexchange import read_stackexchange
from danlu.dumps.wikipedia import read_wikipedia
from danlu.extract.guard import Extractor
from danlu.extract.packed import Read
from danlu.formats.books import ask_book
from danlu.formats.raw import Damage, Raw
from danlu.formats.sections import Joined, Place

DUMPS: dict[str, Callable[[Read, str, int], Iterator[Found | Broken]]] = {
    "wikipedia": read_wikipedia,
    "stackexchange": read_stackexchange,
}
"""By format, what cuts a dump into documents."""


def read_dump(
    read: Read, name: str, kind: str, extractor: Extractor, joined: Joined
) -> Iterator[Raw | Damage]:
    """The documents of one dump, in its order; `extractor` is the guarded process of the kind."""
    for found in DUMPS[kind](read, name, joined.limit):
        if isinstance(found, Broken):
            where = f"bytes {found.start} to {found.end}"
            yield Damage(found.reason, name, detail=f"{where}: {found.detail}" if found.detail else where)
            continue
        place = Place(name, found.start, found.end, f"{name}#{found.id}", found.id)
        yield from ask_book(found.markup, place, found.metadata, extractor, joined)
