"""Pages and archives to documents, and what is no page."""

import io

import pytest

from danlu.extract.guard import Extractor
from danlu.extract.html import extract_page
from danlu.formats.pages import read_archive, read_page
from danlu.formats.raw import Damage
from web_archive import PAGE, conversion, record, response

TEXT = extract_page(PAGE.encode(), "", "resiliparse").text


@pytest.fixture(scope="module")
def extractor():
    with Extractor("resiliparse") as extractor:
        yield extractor


def archive(data, extractor, limit=10_000):
    return list(read_archive(io.BytesIO(data).read, "a.warc", extractor, limit))


def test_a_page_keeps_its_title_and_is_its_own_group(extractor):
    (raw,) = read_page(io.BytesIO(PAGE.encode()).read, "a.html", extractor, 10_000)
    assert (raw.text, raw.metadata, raw.group) == (TEXT, {"title": "Salt & pepper"}, "a.html")
    assert (raw.start, raw.end) == (0, len(PAGE.encode()))


def test_answers_are_pages_and_conversions_texts(extractor):
    first, second = (
        response(number=1, url="http://example.org/salt"),
        conversion("Salz 盐".encode(), number=2),
    )
    page, text = archive(record("warcinfo", b"x") + first + record("request", b"GET /") + second, extractor)
    assert (page.text, page.id) == (TEXT, "urn:uuid:1")
    assert page.metadata == {"url": "http://example.org/salt", "title": "Salt & pepper"}
    assert (text.text, text.id, text.metadata["language"]) == ("Salz 盐", "urn:uuid:2", "eng")
    assert text.end - text.start == len(second) - 4


def test_the_servers_charset_is_used(extractor):
    page = PAGE.replace("mineral", "мінерал").encode("koi8-u")
    (raw,) = archive(response(page, headers="Content-Type: text/html; charset=koi8-u\r\n"), extractor)
    assert "мінерал" in raw.text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (response(b"%PDF", headers="Content-Type: application/pdf\r\n"), "not_html"),
        (response(b"?", headers=""), "not_html"),
        (response(status="404 Not Found"), "http_status"),
        (response(b"<html><body></body></html>"), "no_text"),
        (response(b""), "no_text"),
        (conversion(b" \n"), "no_text"),
        (conversion(b"x" * 10_001), "too_long"),
        (
            response(b"plain", headers="Content-Type: text/html\r\nContent-Encoding: gzip\r\n"),
            "malformed_record",
        ),
        (response()[:-40], "malformed_record"),
        (b"no archive", "malformed_record"),
    ],
)
def test_what_gives_no_document_is_counted_and_the_rest_goes_on(extractor, data, reason):
    first, second = archive(data + response(), extractor)
    assert isinstance(first, Damage)
    assert (first.reason, bool(first.detail), second.text) == (reason, True, TEXT)


def test_a_bad_byte_in_a_text_is_counted(extractor):
    (raw,) = archive(conversion(b"a \xff b \xef\xbf\xbd"), extractor)
    assert (raw.text, raw.replaced) == ("a \ufffd b \ufffd", 1)


def test_a_page_that_cannot_be_extracted_is_named():
    class Failing(Extractor):
        def extract(self, data, charset=""):
            from danlu.extract.guard import ExtractionError

            raise ExtractionError("resiliparse crashed on it")

    (damage,) = archive(response(url="http://example.org/bad"), Failing("resiliparse"))
    assert damage.reason == "extraction_failed"
    assert damage.describe() == "a.warc: http://example.org/bad: resiliparse crashed on it"
