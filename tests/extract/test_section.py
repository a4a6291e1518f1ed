"""Sections become one text, or a text each with its heading path."""

from danlu.extract.section import Section, join_sections, section_text

A = Section(("Book", "Part", "One"), "First.")
B = Section(("Book", "Part", "Two"), "Second.")
C = Section(("Book", "Notes"), "")
D = Section((), "Loose.")


def test_each_heading_stands_once_above_what_it_is_of():
    assert join_sections([A, B, C, D]) == (
        "Book\n\nPart\n\nOne\n\nFirst.\n\nTwo\n\nSecond.\n\nNotes\n\nLoose."
    )
    assert join_sections([]) == ""
    assert (
        join_sections([A, D, A]) == "Book\n\nPart\n\nOne\n\nFirst.\n\nLoose.\n\nBook\n\nPart\n\nOne\n\nFirst."
    )


def test_a_section_alone_begins_with_its_path():
    assert section_text(A) == "Book > Part > One\n\nFirst."
    assert section_text(D) == "Loose."
