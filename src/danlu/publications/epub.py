"""EPUB books to sections: the chapters of the spine in their order, under the titles of the table of contents.

Decides: the file that OCF names is the package (EPUB 3.3, OCF 4.2.6.3), its spine is the order; a chapter without a
heading takes its title from the contents (the first entry for a page names it), and parts that hold chapters stand
above them. Left out: the contents, also pages that only look so (LINKED_SHARE of their text is links), and fonts,
pictures and styles, which are never read. Costs: 3-5 MB/s of XHTML; one chapter at a time in memory.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote, urlsplit
from xml.etree.ElementTree import Element

from danlu.extract.section import Extracted, Section
from danlu.publications.blocks import HEADING, to_sections
from danlu.publications.html_text import PageText, page_blocks
from danlu.publications.markup import MalformedError, read_tree
from danlu.publications.zip_guard import Members

LINKED_SHARE = 0.75
_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = frozenset(("application/xhtml+xml", "text/html", "application/xml", "text/x-oeb1-document"))
_METADATA = ("title", "creator", "language", "date", "publisher", "identifier")


class _Entry(NamedTuple):
    """A page's own title, and the titles of the parts around it from the outermost."""

    title: str
    above: tuple[str, ...]


def extract(data: bytes) -> Extracted:
    """The book's sections and metadata; a chapter that cannot be read is a damage.

    Raises ValueError where it is no EPUB, is encrypted, expands too far, or no chapter can be read.
    """
    members = Members(data)
    package_name = _package_name(members)
    package = read_tree(members.read(package_name))
    folder = posixpath.dirname(package_name)
    manifest = {item.get("id", ""): item for item in package.iter("item")}
    spine, unnamed = _spine(package, manifest)
    _refuse_encrypted(members, {_inside(folder, item.get("href", "")) for item in spine})
    contents = _contents(members, manifest, package, folder)
    sections: list[Section] = []
    damages = [("missing_part", name) for name in unnamed]
    replaced = 0
    above: tuple[str, ...] = ()
    for item in spine:
        name = _inside(folder, item.get("href", ""))
        entry = contents.get(name)
        above = entry.above if entry else above
        try:
            page = page_blocks(members.read(name))
        except ValueError as error:
            damages.append(("broken_part", f"{name}: {error}"))
            continue
        replaced += page.replaced
        sections += _chapter(page, entry, above)
    if not sections and damages:
        raise ValueError(f"no part of the book can be read: {damages[0][1]}")
    return Extracted(tuple(sections), _metadata(package), tuple(damages), replaced)


def _package_name(members: Members) -> str:
    if _CONTAINER not in members:
        raise ValueError(f"is no EPUB: has no {_CONTAINER}")
    for root in read_tree(members.read(_CONTAINER)).iter("rootfile"):
        if root.get("media-type", "") in ("", "application/oebps-package+xml"):
            return _inside("", root.get("full-path", ""))
    raise ValueError(f"is no EPUB: its {_CONTAINER} names no package")


def _inside(folder: str, address: str) -> str:
    """The member that an address means, "" where it leads outside of the book."""
    parts = urlsplit(address)
    name = posixpath.normpath(posixpath.join(folder, unquote(parts.path)))
    return "" if parts.scheme or parts.netloc or name.startswith(("../", "/")) or name == ".." else name


def _spine(package: Element, manifest: dict[str, Element]) -> tuple[list[Element], list[str]]:
    """The pages in reading order without the contents, and the references to what is not there."""
    toc = {
        _page(reference.get("href", ""))
        for reference in package.iter("reference")
        if reference.get("type", "").lower() in ("toc", "cover", "index")
    }
    items, missing = [], []
    for reference in package.iter("itemref"):
        item = manifest.get(reference.get("idref", ""))
        if item is None:
            missing.append(f"the spine names {reference.get('idref', '')!r}, which is not in the manifest")
        elif "nav" in item.get("properties", "").split() or _page(item.get("href", "")) in toc:
            continue
        elif item.get("media-type", "") in _PAGES:
            items.append(item)
    return items, missing


def _page(address: str) -> str:
    return address.partition("#")[0]


def _refuse_encrypted(members: Members, pages: set[str]) -> None:
    """Fonts are often obfuscated; encrypted text is behind digital rights management."""
    if _ENCRYPTION not in members:
        return
    for reference in read_tree(members.read(_ENCRYPTION)).iter("CipherReference"):
        if _inside("", reference.get("URI", "")) in pages:
            raise ValueError("is encrypted: its text is behind digital rights management")


def _contents(
    members: Members, manifest: dict[str, Element], package: Element, folder: str
) -> dict[str, _Entry]:
    """What the table of contents says of every page; a table that cannot be read says nothing."""
    spine = package.find("spine")
    navs = [item for item in manifest.values() if "nav" in item.get("properties", "").split()]
    ncx = [manifest[key] for key in ([spine.get("toc", "")] if spine is not None else []) if key in manifest]
    ncx = ncx or [item for item in manifest.values() if item.get("media-type") == "application/x-dtbncx+xml"]
    for item in [*navs, *ncx]:
        name = _inside(folder, item.get("href", ""))
        if name in members:
            # An entity bomb in the contents is refused with the whole book.
            inside = posixpath.dirname(name)
            found = {_inside(inside, address): entry for address, entry in _read_contents(members.read(name))}
            if found:
                return found
    return {}


def _read_contents(data: bytes) -> Iterator[tuple[str, _Entry]]:
    """(address of a page without its fragment, what is said of it); a table that is no XML says nothing."""
    try:
        root = read_tree(data)
    except MalformedError:
        return
    lists = list(root.iter("navMap")) or [
        child for nav in root.iter("nav") if nav.get("type", "toc") == "toc" for child in nav.iter("ol")
    ]
    seen: set[str] = set()
    for entries in lists[:1]:
        for address, entry in _entries(entries, ()):
            page = address.partition("#")[0]
            if page and page not in seen:
                seen.add(page)
                yield page, entry


def _entries(entries: Element, above: tuple[str, ...]) -> Iterator[tuple[str, _Entry]]:
    for item in entries:
        if item.tag not in ("li", "navPoint"):
            continue
        label = item.find("navLabel") if item.tag == "navPoint" else item.find("a")
        label = item.find("span") if label is None else label
        title = " ".join("".join(label.itertext()).split()) if label is not None else ""
        content = item.find("content")
        address = (
            content.get("src", "")
            if content is not None
            else (label.get("href", "") if label is not None else "")
        )
        if title and address:
            yield address, _Entry(title, above)
        below = [item] if item.tag == "navPoint" else item.findall("ol")
        for inner in below:
            yield from _entries(inner, (*above, title) if title else above)


def _chapter(page: PageText, entry: _Entry | None, above: tuple[str, ...]) -> Iterator[Section]:
    if not page.blocks or page.linked_share >= LINKED_SHARE:
        return
    if (
        entry
        and page.blocks[0].kind != HEADING
        and not any(block.kind == HEADING for block in page.blocks[:3])
    ):
        above = (*above, entry.title)
    yield from to_sections(page.blocks, above)


def _metadata(package: Element) -> dict[str, str]:
    metadata: dict[str, str] = {}
    for name in _METADATA:
        said = [" ".join("".join(found.itertext()).split()) for found in package.iter(name)]
        said = [text for text in said if text and text.lower() != "unknown"]
        if said:
            key = "author" if name == "creator" else name
            metadata[key] = "; ".join(dict.fromkeys(said)) if name == "creator" else said[0]
    return metadata
