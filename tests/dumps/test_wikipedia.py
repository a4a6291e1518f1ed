"""The articles of a MediaWiki export, and what is none."""

import bz2
import io

import pytest

from danlu.dumps.found import Article, Broken
from danlu.dumps.wikipedia import read_wikipedia
from danlu.dumps.wikitext import extract
from danlu.errors import InputError
from danlu.extract.packed import decompress

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="de">
<siteinfo><sitename>Wikipedia</sitename><base>https://de.wikipedia.org/wiki/Wikipedia:Hauptseite</base>
<namespaces><namespace key="0" case="first-letter" /><namespace key="6">Datei</namespace>
<namespace key="14">Kategorie</namespace></namespaces></siteinfo>
"""


def page(title, text, number=1, space=0, more="", model="wikitext"):
    return (
        f"<page><title>{title}</title><ns>{space}</ns><id>{number}</id>{more}<revision><id>9{number}</id>"
        f"<timestamp>2024-01-02T03:04:05Z</timestamp><contributor><username>A</username><id>7</id></contributor>"
        f'<model>{model}</model><format>text/x-wiki</format><text bytes="1" xml:space="preserve">{text}</text>'
        f"<sha1>x</sha1></revision></page>\n"
    )


def read(*pages, limit=10_000, head=HEAD, tail="</mediawiki>"):
    data = (head + "".join(pages) + tail).encode()
    return list(read_wikipedia(io.BytesIO(data).read, "dewiki.xml", limit)), data


def test_an_article_has_its_metadata_and_its_wikitext():
    (found,), data = read(page("Süße &amp; Salz", "Ein ''Text''.[[Datei:a.jpg|x]]\n\n[[Kategorie:Salz]]", 12))
    assert isinstance(found, Article)
    assert (found.id, found.site) == ("12", "de.wikipedia.org")
    assert found.metadata == {
        "title": "Süße & Salz",
        "revision": "912",
        "date": "2024-01-02T03:04:05Z",
        "url": "https://de.wikipedia.org/wiki/S%C3%BC%C3%9Fe_%26_Salz",
        "language": "de",
    }
    extracted = extract(found.markup)
    assert [section.text for section in extracted.sections] == ["Ein Text."]
    assert extracted.metadata == {"categories": "Salz"}
    assert data[found.start : found.end].startswith(b"<page>")


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("not_an_article", page("Diskussion:A", "text", space=1)),
        ("not_an_article", page("A.js", "text", model="javascript")),
        ("redirect", page("A", "#WEITERLEITUNG [[B]]", more='<redirect title="B" />')),
        ("no_text", page("A", "")),
        ("no_text", page("A", " \n ")),
        ("no_text", "<page><title>A</title><ns>0</ns><id>1</id></page>"),
        ("no_text", '<page><ns>0</ns><revision><text deleted="deleted" /></revision></page>'),
        ("not_a_page", "<logitem><id>1</id></logitem>"),
        ("malformed", page("A", "a & b")),
        ("too_long", page("A", "long " * 3000)),
    ],
)
def test_what_is_no_article_is_counted_and_the_next_one_read(reason, text):
    found, data = read(page("Vorher", "x", 1), text, page("Nachher", "y", 2))
    assert [getattr(each, "reason", "") for each in found] == ["", reason, ""]
    assert isinstance(found[1], Broken)
    assert 0 < found[1].start < found[1].end < len(data)
    assert [found[0].id, found[2].id] == ["1", "2"]


def test_the_last_revision_of_a_history_counts():
    old, new = page("A", "old"), page("A", "new", 2)
    history = old.replace("</page>\n", new[new.index("<revision>") :])
    (found,), _ = read(history)
    assert found.metadata["revision"] == "92"
    assert extract(found.markup).sections[0].text == "new"


def test_a_dump_of_several_packed_streams_that_ends_early():
    pieces = [HEAD, page("A", "a", 1), page("B", "b", 2), page("C", "c", 3)]
    data = b"".join(bz2.compress(piece.encode()) for piece in pieces)[:-10]
    stream = decompress(io.BytesIO(data).read, "bz2", "a.bz2")
    found = list(read_wikipedia(stream, "a.xml.bz2", 10_000))
    assert [getattr(each, "id", "") or each.reason for each in found] == ["1", "2", "3", "truncated"]


def test_other_files_are_said_once():
    (found,), _ = read(head="<posts><row/><row/>", tail="</posts>")
    assert found.reason == "not_a_dump"
    with pytest.raises(InputError, match="7z"):
        list(read_wikipedia(io.BytesIO(b"7z\xbc\xaf\x27\x1c123").read, "a.7z", 100))


def test_a_dump_without_a_site_gives_articles_without_address():
    (found,), _ = read(page("A", "text"), head="<mediawiki>")
    assert set(found.metadata) == {"title", "revision", "date"}
    assert found.site == ""
