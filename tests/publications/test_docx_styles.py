"""Styles and lists of Word: which paragraph is a heading, what stands before an item."""

import pytest

from danlu.publications.docx_styles import Lists, Styles
from danlu.publications.markup import read_tree


def styles(xml):
    return Styles(read_tree(f"<styles>{xml}</styles>".encode()))


def paragraph(properties):
    return read_tree(f"<p><pPr>{properties}</pPr></p>".encode())


def style(number, name, rest=""):
    return f'<style styleId="{number}"><name val="{name}"/>{rest}</style>'


@pytest.mark.parametrize(
    ("properties", "level"),
    [
        ("", 0),
        ('<pStyle val="none"/>', 0),
        ('<pStyle val="T"/>', 1),
        ('<pStyle val="1"/>', 2),
        ('<pStyle val="Mine"/>', 4),
        ('<pStyle val="Based"/>', 2),
        ('<pStyle val="Loop"/>', 0),
        ('<pStyle val="1"/><outlineLvl val="4"/>', 6),
        ('<pStyle val="1"/><outlineLvl val="9"/>', 0),
    ],
)
def test_levels_of_headings(properties, level):
    found = styles(
        style("T", "Title")
        + style("1", "heading 1")
        + style("Mine", "My own", '<pPr><outlineLvl val="2"/></pPr>')
        + style("Based", "Other", '<basedOn val="1"/>')
        + style("Loop", "Loop", '<basedOn val="Loop"/>')
    )
    assert found.heading_level(paragraph(properties)) == level
    assert Styles(None).heading_level(paragraph('<pStyle val="1"/>')) == 0


def test_lines_of_contents():
    found = styles(style("C", "toc 1") + style("N", "Normal"))
    assert found.is_contents(paragraph('<pStyle val="C"/>'))
    assert not found.is_contents(paragraph('<pStyle val="N"/>'))


def test_items_say_it_themselves_or_by_their_style():
    number = '<numPr><ilvl val="1"/><numId val="7"/></numPr>'
    found = styles(style("L", "List Bullet", f"<pPr>{number}</pPr>"))
    assert found.list_of(paragraph(number)) == ("7", 1)
    assert found.list_of(paragraph('<pStyle val="L"/>')) == ("7", 1)
    assert found.list_of(paragraph('<pStyle val="L"/><numPr><numId val="0"/></numPr>')) == ("", 0)
    assert found.list_of(paragraph("")) == ("", 0)


def test_marks_are_counted():
    lists = Lists(
        read_tree(
            b'<numbering><abstractNum abstractNumId="0"><lvl ilvl="0"><numFmt val="decimal"/></lvl>'
            b'<lvl ilvl="1"><numFmt val="lowerLetter"/></lvl><lvl ilvl="2"><numFmt val="bullet"/></lvl></abstractNum>'
            b'<num numId="1"><abstractNumId val="0"/></num><num numId="2"><abstractNumId val="0"/></num></numbering>'
        )
    )
    asked = [("1", 0), ("1", 1), ("1", 1), ("1", 2), ("1", 0), ("1", 1), ("2", 0)]
    assert [lists.mark(*item) for item in asked] == ["1. ", "  1. ", "  2. ", "    - ", "2. ", "  1. ", "1. "]
    assert Lists(None).mark("1", 0) == "- "
