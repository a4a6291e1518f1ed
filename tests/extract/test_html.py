"""Pages: decoded as a browser would, extracted exactly as the libraries do."""

import codecs

import pytest

from danlu.extract.html import EXTRACTORS, decode_page, extract_page, title_of
from web_archive import PAGE


def test_the_text_is_the_librarys():
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    page = extract_page(PAGE.encode(), "", "resiliparse")
    assert page.text == extract_plain_text(HTMLTree.parse(PAGE), main_content=True)
    assert page.text.startswith("Salt\n\nSalt is a mineral")
    assert (page.title, page.replaced) == ("Salt & pepper", 0)


def test_trafilatura_gives_the_same_page_the_same_text_every_time():
    from trafilatura import extract

    expected = extract(PAGE, favor_precision=True, include_comments=False)
    assert {extract_page(PAGE.encode(), "", "trafilatura").text for _ in range(5)} == {expected}
    assert "soldiers" in expected


@pytest.mark.parametrize(
    ("data", "declared", "text", "is_sound"),
    [
        ("Grüße".encode(), "", "Grüße", True),
        (codecs.BOM_UTF8 + "Grüße".encode(), "latin-1", "Grüße", True),
        (codecs.BOM_UTF16_LE + "Grüße".encode("utf-16-le"), "utf-8", "Grüße", True),
        ("Grüße".encode("latin-1"), "ISO-8859-1", "Grüße", True),
        ("今天天气很好".encode("gb18030"), "gbk", "今天天气很好", True),
        ('<meta charset="gb2312">今天'.encode("gb18030"), "", '<meta charset="gb2312">今天', True),
        ("Grüße, überall größer".encode(), "no-such-charset", "Grüße, überall größer", True),
        ("Grüße".encode() + b" \xff and more", "utf-8", None, None),
        (b"", "", "", True),
        (b"\x81\x8d\x8f", "windows-1252", None, None),
    ],
)
def test_an_encoding_is_what_fits_first(data, declared, text, is_sound):
    found, sound = decode_page(data, declared)
    if text is not None:
        assert (found, sound) == (text, is_sound)


def test_what_does_not_decode_is_counted():
    data = PAGE.replace("mineral", "mineral über").encode().replace(b"of little", b"of \xff\xfe little")
    page = extract_page(data, "utf-8", "resiliparse")
    assert page.replaced == page.text.count("\ufffd") or "ÿ" in page.text


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<TITLE lang=de>\n a  &lt;b </title>", "a <b"),
        ("<p>none", ""),
        ("<title></title>", ""),
        ("<title>open", ""),
    ],
)
def test_titles(page, title):
    assert title_of(page) == title


@pytest.mark.parametrize("extractor", EXTRACTORS)
@pytest.mark.parametrize(
    "page", ["", "   ", "\0", "no markup", "<", "<html>", "<?xml version='1.0' encoding='utf-8'?><p>x"]
)
def test_small_and_odd_pages_raise_nothing(page, extractor):
    assert isinstance(extract_page(page.encode(), "", extractor).text, str)
