"""What is written comes out as paragraphs, items, notes and sections."""

from danlu.extract.section import Section
from danlu.latex.paragraphs import Paragraphs


def test_paragraphs_notes_and_sections():
    out = Paragraphs()
    out.space()
    out.write("one")
    out.space()
    out.space()
    out.note("note")
    out.write("two")
    out.paragraph()
    out.paragraph()
    out.heading(2, "A")
    out.heading(3, "B")
    out.write("three")
    out.heading(2, "C")
    assert out.finish() == (
        Section((), "one two\n\nnote"),
        Section(("A",), ""),
        Section(("A", "B"), "three"),
        Section(("C",), ""),
    )


def test_displays_and_breaks_stand_on_lines_of_their_own():
    out = Paragraphs()
    out.write("a")
    out.space()
    out.display("x = 1")
    out.space()
    out.write("b")
    out.line_break()
    out.line_break()
    out.write("c")
    assert out.finish()[0].text == "a\nx = 1\nb\nc"


def test_items_follow_one_another():
    out = Paragraphs()
    out.write("a")
    for marker, depth in (("-", 1), ("1.", 2), ("-", 1)):
        out.item(marker, depth)
        out.write("x")
    out.paragraph()
    out.write("b")
    out.paragraph()
    out.code("\n  code\n")
    assert out.finish()[0].text == "a\n\n- x\n  1. x\n- x\n\nb\n\n  code"


def test_gaps_take_their_space_and_empty_parentheses_with_them():
    out = Paragraphs()
    for part in ("as", None, "(", "GAP", ")", None, "in", None, "GAP", "."):
        if part is None:
            out.space()
        elif part == "GAP":
            out.gap()
        else:
            out.write(part)
    assert out.finish()[0].text == "as in."


def test_one_line():
    out = Paragraphs()
    out.write("a")
    out.paragraph()
    out.write("b")
    assert out.one_line() == "a b"
    assert Paragraphs().one_line() == ""
