"""Dumps to documents: the articles of a MediaWiki export, the questions of Stack Exchange with their answers.

Decides: a document's id, which is also its group, is the dump's number of it behind the site's name, so that dumps of
several sites may share a domain; where neither the dump nor its path names the site, behind the file's. Costs: the
streaming parser, and one question to the guarded process a document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from danlu.dumps.found import Article, Broken
from danlu.dumps.stackexchange import read_stackexchange
from danlu.dumps.wikipedia import read_wikipedia
from danlu.extract.guard import Extractor
from danlu.extract.packed import Read
from danlu.formats.books import ask_book
from danlu.formats.raw import Damage, Raw
from danlu.formats.sections import Joined, Place

_READERS: dict[str, Callable[[Read, str, int], Iterator[Article | Broken]]] = {
    "wikipedia": read_wikipedia,
    "stackexchange": read_stackexchange,
}
"""By format, what cuts a dump into documents."""


def read_dump(
    read: Read, name: str, kind: str, extractor: Extractor, joined: Joined
) -> Iterator[Raw | Damage]:
    """The documents of one dump, in its order; `extractor` is the guarded process of the kind."""
    for found in _READERS[kind](read, name, joined.limit):
        if isinstance(found, Broken):
            where = f"bytes {found.start} to {found.end}"
            yield Damage(found.reason, name, detail=f"{where}: {found.detail}" if found.detail else where)
            continue
        number = f"{found.site or name}#{found.id}"
        place = Place(name, found.start, found.end, number, number)
        yield from ask_book(found.markup, place, found.metadata, extractor, joined)
