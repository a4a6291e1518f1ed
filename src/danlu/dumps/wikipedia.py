"""Wikipedia: the articles of a MediaWiki XML export (versions 0.10 and 0.11), with their wikitext.

Decides: an article is a wikitext page of namespace 0 that is no redirect; other pages are counted, one `Broken` each:
"not_an_article" (another namespace or content model), "redirect", "no_text" (deleted, or a dump of stubs),
"not_a_page" (another element). Of a page with its history the last revision counts. Names of files and categories are
those of the site's own language. Costs: xml_stream.py; `wikitext.extract` turns the wikitext into text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

from danlu.dumps.found import Article, Broken
from danlu.dumps.wikitext import pack
from danlu.dumps.xml_stream import Element, Part, read_parts
from danlu.extract.packed import Read

_ARTICLES = "0"
_FILES, _CATEGORIES = "6", "14"
_WIKITEXT = "wikitext"
_XML_LANGUAGE = "xml:lang"


@dataclass(frozen=True, slots=True)
class Site:
    """What a dump says of its site: language, the address before a title, what files and categories are called."""

    language: str = ""
    base: str = ""
    file_names: tuple[str, ...] = ()
    category_names: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its address as a name, as "en.wikipedia.org"; all languages of Wikipedia give themselves the same name."""
        return self.base.partition("://")[2].rstrip("/").removesuffix("/wiki")


def read_wikipedia(read: Read, name: str, limit: int) -> Iterator[Article | Broken]:
    """The articles of one dump, in its order; a page may hold about `limit` characters.

    `Article.markup` is for `wikitext.extract`; metadata: title, revision, date (of the revision), url, language. Raises
    InputError where the file is a 7z archive.
    """
    site: Site | None = None
    for part in read_parts(read, name, ("page",), limit):
        if isinstance(part, Broken):
            yield part
        elif site is None:
            if part.element.name != "mediawiki":
                detail = f"<{part.element.name}> is no MediaWiki export; the rest is not read"
                yield Broken("not_a_dump", part.start, part.end, detail)
                return
            site = Site(language=part.element.attributes.get(_XML_LANGUAGE, ""))
        elif part.element.name == "page":
            yield _read_page(part, site)
        elif part.element.name == "siteinfo":
            site = _read_site(part.element, site.language)
        else:
            detail = f"<{part.element.name}> is no part of a MediaWiki export"
            yield Broken("not_a_page", part.start, part.end, detail)


def _read_site(info: Element, language: str) -> Site:
    base = info.child_text("base").rpartition("/")[0]
    spaces = info.child("namespaces")
    names = {each.attributes.get("key", ""): each.text for each in spaces.children} if spaces else {}
    found = [(names[key],) if names.get(key) else () for key in (_FILES, _CATEGORIES)]
    return Site(language, f"{base}/" if base else "", *found)


def _read_page(part: Part, site: Site) -> Article | Broken:
    page = part.element
    title, number = page.child_text("title"), page.child_text("id")
    revision = page.child("revision") or Element("revision", {})
    model = revision.child_text("model") or _WIKITEXT
    text = revision.child("text")
    reason = ""
    if page.child_text("ns") != _ARTICLES or model != _WIKITEXT:
        reason = "not_an_article"
    elif page.child("redirect"):
        reason = "redirect"
    elif not text or not text.text or text.text.isspace():
        reason = "no_text"
    if reason or not text:
        return Broken(reason, part.start, part.end, title)
    markup = pack(text.text, site.language, site.file_names, site.category_names)
    said = {
        "title": title,
        "revision": revision.child_text("id"),
        "date": revision.child_text("timestamp"),
        "url": site.base + quote(title.replace(" ", "_"), safe="/:@!$*(),;'~") if site.base else "",
        "language": site.language,
    }
    metadata = {key: value for key, value in said.items() if value}
    return Article(number, part.start, part.end, markup, metadata, site.name)
