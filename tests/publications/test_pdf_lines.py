"""The text layer of PDF files written by hand."""

import sys

import pytest

from danlu.errors import MissingError
from danlu.publications import pdf_lines
from danlu.publications.pdf_lines import Entry, read_layer
from small_publications import RECTANGLE, TURNED, make_pdf, text


def test_lines_have_places_and_sizes():
    layer = read_layer(
        make_pdf([[text(72, 700, "Hello world"), text(100, 680, "code()", 12, "F2")]], info="/Title (T)")
    )
    first, second = layer.pages[0].lines
    assert (first.text, first.size, first.is_monospaced) == ("Hello world", 10.0, False)
    assert (second.text, second.size, second.is_monospaced) == ("code()", 12.0, True)
    assert first.left == pytest.approx(72, abs=2)
    assert second.left == pytest.approx(100, abs=2)
    assert first.right > first.left + 40
    assert first.bottom - second.bottom == pytest.approx(20, abs=3)
    assert layer.pages[0].height == 792
    assert layer.said["Title"] == "T"
    assert (layer.without_text, layer.unreadable, layer.outline) == ([], [], [])


def test_sizes_are_those_on_the_page():
    scaled = "BT /F1 1 Tf 12 0 0 12 72 700 Tm (scaled) Tj ET"
    assert read_layer(make_pdf([[scaled]])).pages[0].lines[0].size == 12.0


def test_a_name_in_a_sentence_is_no_code():
    mixed = "BT /F1 10 Tf 72 700 Td (the name ) Tj /F2 10 Tf (abc) Tj /F1 10 Tf ( in a sentence) Tj ET"
    assert [line.is_monospaced for line in read_layer(make_pdf([[mixed]])).pages[0].lines] == [False]


def test_a_divided_word_is_two_lines():
    layer = read_layer(make_pdf([[text(72, 700, "an exam-"), text(72, 688, "ple of it")]]))
    assert [line.text for line in layer.pages[0].lines] == ["an exam-", "ple of it"]


def test_turned_text_is_left_out():
    layer = read_layer(make_pdf([[TURNED, text(72, 700, "straight")]]))
    assert [line.text for line in layer.pages[0].lines] == ["straight"]


def test_pages_without_text():
    layer = read_layer(make_pdf([[text(72, 700, "a")], [RECTANGLE], []]))
    assert [len(page.lines) for page in layer.pages] == [1, 0, 0]
    assert layer.without_text == [1]


def test_characters_without_meaning_are_unreadable():
    assert read_layer(make_pdf([[text(72, 700, "\x01\x03\x04\x05 ab")]])).unreadable == [0]
    assert read_layer(make_pdf([[text(72, 700, "\x01 abcdefgh")]])).unreadable == []


def test_the_outline():
    layer = read_layer(
        make_pdf([[text(72, 700, "a")], [text(72, 700, "b")]], outline=[("One", 0), ("Two", 1)])
    )
    assert layer.outline == [Entry(0, "One", 0), Entry(0, "Two", 1)]


@pytest.mark.parametrize("data", [b"", b"%PDF-1.4\n", b"no", make_pdf([[text(72, 700, "a")]])[:40]])
def test_what_is_no_pdf_is_refused(data):
    with pytest.raises(ValueError, match="no readable PDF"):
        read_layer(data)


def test_a_password_is_needed():
    with pytest.raises(ValueError, match="encrypted with a password"):
        read_layer(make_pdf([[text(72, 700, "a")]], permissions=-4).replace(b"/U <", b"/U <00"))


def test_what_the_owner_forbids_is_left():
    with pytest.raises(ValueError, match="its owner forbids copying"):
        read_layer(make_pdf([[text(72, 700, "a")]], permissions=-4 & ~16))
    assert len(read_layer(make_pdf([[text(72, 700, "a")]], permissions=-4)).pages) == 1


def test_too_many_pages_are_refused(monkeypatch):
    monkeypatch.setattr(pdf_lines, "MOST_PAGES", 2)
    with pytest.raises(ValueError, match="has 3 pages, more than 2"):
        read_layer(make_pdf([[], [], []]))


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(MissingError, match=r'pip install "danlu\[corpus\]"'):
        read_layer(b"")
