"""PDF files to sections, from files written by hand."""

import textwrap
from contextlib import suppress

import pytest

from danlu.extract.section import Section, join_sections
from danlu.publications.pdf import extract, page_ranges
from small_publications import RECTANGLE, make_pdf, text

PROSE = (
    "The page was set in a narrow column so that a sentence of this length takes several lines and every one of them "
    "but the last runs to the right edge of the column where it is broken between two words."
)


def prose(top, words=PROSE):
    # Courier would be code; Helvetica's widths differ, which a real page's do too.
    return [text(72, top - 12 * number, part) for number, part in enumerate(textwrap.wrap(words, 70))]


def page(number, *commands):
    return [text(72, 750, "A running head"), *commands, text(300, 40, str(number + 1))]


def test_a_book_with_an_outline():
    pages = [
        page(0, text(72, 700, "Chapter 1. One"), *prose(680), *prose(600)),
        page(1, *prose(700, PROSE[:-1] + " and"), text(72, 400, "it goes on over")),
        page(
            2,
            text(72, 700, "the page."),
            text(72, 650, "Two"),
            text(72, 620, "• item"),
            text(72, 600, "• more"),
        ),
    ]
    found = extract(make_pdf(pages, outline=[("One", 0), ("Two", 2)]))
    assert found.sections == (
        Section(("Chapter 1. One",), f"{PROSE}\n\n{PROSE}\n\n{PROSE[:-1]} and\n\nit goes on over the page."),
        Section(("Two",), "- item\n- more"),
    )
    assert found.metadata == {"pages": "3"}
    assert found.damages == ()


def test_headings_by_size():
    pages = [
        [text(72, 700, "Title", 20), *prose(660), text(72, 560, "Below", 14), *prose(530)],
        [text(72, 700, "Next", 20), *prose(660)],
    ]
    found = extract(make_pdf(pages, info="/Title (T) /Author (A) /CreationDate (D:20200102030405Z)"))
    assert [section.headings for section in found.sections] == [("Title",), ("Title", "Below"), ("Next",)]
    assert {section.text for section in found.sections} == {PROSE}
    assert found.metadata == {"title": "T", "author": "A", "date": "2020-01-02", "pages": "2"}


def test_hyphens_and_code():
    pages = [
        [
            text(72, 700, "an exam-"),
            text(72, 688, "ple"),
            text(72, 600, "for x:", 10, "F2"),
            text(96, 588, "y()", 10, "F2"),
        ]
    ]
    assert join_sections(extract(make_pdf(pages)).sections) == "an example\n\nfor x:\n    y()"


def test_tables_of_contents_go():
    dots = " . . . . . . . . "
    entries = [text(72, 650 - 12 * number, f"{number} Entry{dots}{number}") for number in range(10)]
    pages = [[text(72, 700, "Contents"), text(72, 670, "Chapter 3"), *entries], [*prose(700)]]
    assert join_sections(extract(make_pdf(pages)).sections) == PROSE
    one = [[*prose(700), text(72, 600, f"Entry{dots}7")]]
    assert join_sections(extract(make_pdf(one)).sections) == PROSE


def test_scanned_pages_are_counted():
    found = extract(make_pdf([[RECTANGLE], [RECTANGLE], [text(72, 700, "a")], [], [RECTANGLE]]))
    assert join_sections(found.sections) == "a"
    assert found.damages == (("no_text_layer", "pages 1 to 2, 5"),)
    assert extract(make_pdf([[RECTANGLE]])).sections == ()


@pytest.mark.parametrize(
    ("pages", "said"), [([2], "page 3"), ([2, 4, 5, 6], "pages 3, 5 to 7"), ([0, 1], "pages 1 to 2")]
)
def test_ranges(pages, said):
    assert page_ranges(pages) == said


def test_every_truncation_is_an_answer():
    whole = make_pdf([page(number, *prose(700)) for number in range(3)])
    for end in range(0, len(whole), 97):
        with suppress(ValueError):
            assert isinstance(extract(whole[:end]).sections, tuple)
