"""EPUB books: the spine in order, titles from the contents, everything else refused or named."""

import io
import random
import zipfile

import pytest

from danlu.extract.section import Section, join_sections
from danlu.publications import zip_guard
from danlu.publications.epub import extract
from small_publications import make_epub, make_zip, xhtml

METADATA = (
    "<dc:title>A  book</dc:title><dc:creator>Ann</dc:creator><dc:creator>Bob</dc:creator>"
    "<dc:language>en</dc:language><dc:date>2020-01-02</dc:date><dc:publisher>unknown</dc:publisher>"
)
PAGES = {"one.xhtml": "<h1>One</h1><p>first</p>", "two.xhtml": "<p>second</p>", "three.xhtml": "<p>third</p>"}
NAV = (
    '<ol><li><a href="one.xhtml">One</a></li>'
    '<li><span>Part</span><ol><li><a href="two.xhtml#a">Two</a><ol><li><a href="two.xhtml#b">inner</a></li></ol></li>'
    '<li><a href="three.xhtml">Three</a></li></ol></li></ol>'
)
NCX = (
    '<navPoint><navLabel><text>One</text></navLabel><content src="one.xhtml"/></navPoint>'
    "<navPoint><navLabel><text>Part</text></navLabel>"
    '<navPoint><navLabel><text>Two</text></navLabel><content src="two.xhtml#a"/></navPoint>'
    '<navPoint><navLabel><text>Three</text></navLabel><content src="three.xhtml"/></navPoint></navPoint>'
)
SECTIONS = (
    Section(("One",), "first"),
    Section(("Part", "Two"), "second"),
    Section(("Part", "Three"), "third"),
)


@pytest.mark.parametrize("contents", [{"nav": NAV}, {"ncx": NCX}, {"nav": "<p>none</p>", "ncx": NCX}])
def test_chapters_stand_under_their_titles(contents):
    book = extract(make_epub(PAGES, metadata=METADATA, **contents))
    assert book.sections == SECTIONS
    assert book.metadata == {"title": "A book", "author": "Ann; Bob", "language": "en", "date": "2020-01-02"}
    assert book.damages == ()


def test_a_book_without_contents_has_its_own_headings():
    book = extract(make_epub(PAGES))
    assert join_sections(book.sections) == "One\n\nfirst\n\nsecond\n\nthird"
    assert book.metadata == {}


def test_the_spine_is_the_order():
    data = make_epub({"z.xhtml": "<p>first</p>", "a.xhtml": "<p>second</p>"})
    assert join_sections(extract(data).sections) == "first\n\nsecond"


def parts_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def test_a_page_of_links_is_a_table_of_contents():
    links = "".join(f'<p><a href="{name}">Chapter {name}</a></p>' for name in PAGES)
    assert extract(make_epub({"toc.xhtml": links, **PAGES}, nav=NAV)).sections == SECTIONS


def test_addresses_are_unquoted_and_stay_inside():
    data = make_epub({"a%20b.xhtml": "<p>x</p>", "../../../etc/passwd": "<p>y</p>"} | {"c.xhtml": "<p>z</p>"})
    with pytest.raises(ValueError, match="outside of itself"):
        extract(data)
    package = make_epub({"a.xhtml": "<p>x</p>"})
    parts = parts_of(package)
    parts["OEBPS/book.opf"] = parts["OEBPS/book.opf"].replace(b'href="a.xhtml"', b'href="sub%20one/a.xhtml"')
    parts["OEBPS/sub one/a.xhtml"] = parts.pop("OEBPS/a.xhtml")
    assert join_sections(extract(make_zip(parts)).sections) == "x"
    parts["OEBPS/book.opf"] = parts["OEBPS/book.opf"].replace(b"sub%20one/", b"../../")
    with pytest.raises(ValueError, match="no part of the book can be read"):
        extract(make_zip(parts))


def test_what_cannot_be_read_is_a_damage():
    bomb = '<?xml version="1.0"?><!DOCTYPE html [<!ENTITY a "b">]><html>&a;</html>'
    data = make_epub({"bad.xhtml": bomb, **PAGES}, nav=NAV)
    book = extract(data)
    assert book.sections == SECTIONS
    assert [reason for reason, _ in book.damages] == ["broken_part"]
    assert "bad.xhtml: declares an entity" in book.damages[0][1]
    missing = data.replace(b"three.xhtml", b"third.xhtml", 0)
    parts = parts_of(missing)
    del parts["OEBPS/two.xhtml"]
    assert ("broken_part", "OEBPS/two.xhtml: has no OEBPS/two.xhtml") in extract(make_zip(parts)).damages
    parts["OEBPS/book.opf"] = parts["OEBPS/book.opf"].replace(b'idref="p3"', b'idref="nowhere"')
    assert extract(make_zip(parts)).damages[0][0] == "missing_part"


def test_malformed_pages_are_read_as_html():
    assert (
        join_sections(extract(make_epub({"a.xhtml": '<?xml version="1.0"?><p>a<p>b &amp c'})).sections)
        == "a\n\nb & c"
    )


def test_rights_management_is_refused_fonts_are_not():
    def encrypted(name):
        return (
            '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData><CipherData>'
            f'<CipherReference URI="OEBPS/{name}"/></CipherData></EncryptedData></encryption>'
        )

    assert (
        extract(make_epub(PAGES, nav=NAV, **{"META-INF__encryption.xml": encrypted("font.otf")})).sections
        == SECTIONS
    )
    with pytest.raises(ValueError, match="digital rights"):
        extract(make_epub(PAGES, **{"META-INF__encryption.xml": encrypted("one.xhtml")}))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no whole ZIP"),
        (make_zip({"a": "b"}), "has no META-INF/container.xml"),
        (make_zip({"META-INF/container.xml": "<container/>"}), "names no package"),
        (make_zip({"META-INF/container.xml": "<container"}), "no well-formed XML"),
        (make_zip({"META-INF/container.xml": '<!DOCTYPE c [<!ENTITY a "b">]><c/>'}), "declares an entity"),
        (make_zip({"META-INF/container.xml": '<c><rootfile full-path="x.opf"/></c>'}), "has no x.opf"),
        (make_epub({"a.xhtml": f'<?xml version="1.0"?>{"<a>" * 600}'}), "nested more than"),
    ],
)
def test_what_is_no_book_is_refused(data, why):
    with pytest.raises(ValueError, match=why):
        extract(data)


def test_a_bomb_in_a_book_is_refused():
    bomb = xhtml("<p>" + " " * zip_guard.BOMB_BYTES + "</p>")
    with pytest.raises(ValueError, match="is a bomb"):
        extract(make_epub({"a.xhtml": bomb}))


def test_pictures_are_never_unpacked():
    data = make_epub(PAGES, nav=NAV, **{"OEBPS__big.png": bytes(zip_guard.BOMB_BYTES + 1)})
    assert extract(data).sections == SECTIONS


def test_every_truncation_is_an_answer():
    whole = make_epub(PAGES, nav=NAV)
    for end in range(0, len(whole), 7):
        with pytest.raises(ValueError, match="ZIP"):
            extract(whole[:end])


def test_undecodable_bytes_of_pages_are_counted():
    parts = parts_of(make_epub({"a.xhtml": "<p>a", "b.xhtml": "<p>b"}))
    parts["OEBPS/a.xhtml"] = b"<p>caf\xe9 \x81<p>"
    book = extract(make_zip(parts))
    assert book.replaced == 1
    assert join_sections(book.sections).startswith("caf\xe9 \ufffd")


@pytest.mark.parametrize(
    "page",
    [
        b"\xff\xfe" + b"<html><body><p>plain text behind a wrong mark</p></body></html>" * 9,
        b"\xfe\xff" + random.Random(1).randbytes(3000),
        random.Random(2).randbytes(3000),
        b"\x89PNG\r\n\x1a\n" + bytes(99),
    ],
    ids=["wrong mark", "random behind a mark", "random", "picture"],
)
def test_a_page_that_cannot_be_decoded_is_a_damage(page):
    parts = parts_of(make_epub({**PAGES, "bad.xhtml": "<p>x</p>"}, nav=NAV))
    parts["OEBPS/bad.xhtml"] = page
    book = extract(make_zip(parts))
    assert book.sections == SECTIONS
    ((reason, detail),) = book.damages
    assert reason == "broken_part"
    assert "bad.xhtml: cannot be decoded" in detail


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8", "cp1252"])
def test_pages_in_other_encodings_are_read_even_where_they_are_no_xml(encoding):
    parts = parts_of(make_epub({"a.xhtml": "<p>x</p>"}))
    parts["OEBPS/a.xhtml"] = "<p>Élève à l’école<p>b &amp c".encode(encoding)
    assert join_sections(extract(make_zip(parts)).sections) == "Élève à l’école\n\nb & c"
