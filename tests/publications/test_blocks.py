"""Blocks to sections: every text under its headings, in order."""

from danlu.extract.section import Section, join_sections
from danlu.publications.blocks import HEADING, ITEM, PARAGRAPH, ROW, Block, join_blocks, to_sections


def heading(text, level):
    return Block(HEADING, text, level)


def test_kinds_stand_apart_as_they_should():
    blocks = [
        Block(PARAGRAPH, "a"),
        Block(PARAGRAPH, "b"),
        Block(ITEM, "- c"),
        Block(ITEM, "- d"),
        Block(ROW, "e\tf"),
    ]
    assert join_blocks(blocks) == "a\n\nb\n\n- c\n- d\n\ne\tf"
    assert join_blocks([]) == ""


def test_a_heading_stands_below_the_nearest_larger_one():
    blocks = [
        Block(PARAGRAPH, "front"),
        *(heading("A", 1), Block(PARAGRAPH, "a")),
        *(heading("B", 3), Block(PARAGRAPH, "b")),
        *(heading("C", 2), Block(PARAGRAPH, "c")),
        *(heading("D", 1), Block(PARAGRAPH, "d")),
    ]
    assert to_sections(blocks) == [
        Section((), "front"),
        Section(("A",), "a"),
        Section(("A", "B"), "b"),
        Section(("A", "C"), "c"),
        Section(("D",), "d"),
    ]


def test_a_heading_without_text_is_kept_once():
    blocks = [
        heading("Part", 1),
        heading("One", 2),
        heading("Two", 2),
        Block(PARAGRAPH, "x"),
        heading("End", 1),
    ]
    sections = to_sections(blocks)
    assert sections == [Section(("Part", "One"), ""), Section(("Part", "Two"), "x"), Section(("End",), "")]
    assert join_sections(sections) == "Part\n\nOne\n\nTwo\n\nx\n\nEnd"


def test_a_part_keeps_what_stands_above_it():
    blocks = [heading("One", 1), Block(PARAGRAPH, "x"), heading("Two", 1), Block(PARAGRAPH, "y")]
    assert to_sections(blocks, ("Part",)) == [Section(("Part", "One"), "x"), Section(("Part", "Two"), "y")]
    assert to_sections(blocks, ("Part", "One"))[0] == Section(("Part", "One"), "x")
    assert to_sections([]) == []
