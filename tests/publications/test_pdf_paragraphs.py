"""Lines to paragraphs: gaps, indents, short lines and list marks decide."""

import textwrap

import pytest

from danlu.publications.pdf_lines import Line
from danlu.publications.pdf_paragraphs import (
    body_size,
    join_over_pages,
    kept_lines,
    line_distance,
    paragraphs,
    without_bullet,
)

WIDTH = 60
PROSE = (
    "The page was set in a narrow column so that a sentence of this length takes several lines and every one of them "
    "but the last runs to the right edge of the column where it is broken between two words."
)


def lines_of(text, top=700.0, left=72.0, size=10.0, distance=12.0, mono=False):
    return [
        line(part, top - distance * number, left, size, mono)
        for number, part in enumerate(textwrap.wrap(text, WIDTH))
    ]


def line(text, bottom, left=72.0, size=10.0, mono=False):
    return Line(text, left, left + 0.5 * size * len(text), bottom, size, mono)


def texts(page):
    return [[line.text for line in part.lines] for part in paragraphs(page, 0, 12.0, 10.0)]


WRAPPED = textwrap.wrap(PROSE, WIDTH)


@pytest.mark.parametrize(
    "second",
    [
        lines_of(PROSE, 700 - 12 * len(WRAPPED) - 8),
        lines_of(PROSE, 700 - 12 * len(WRAPPED), size=14.0),
        lines_of(PROSE, 700 - 12 * len(WRAPPED), mono=True),
        lines_of(PROSE, 750, left=350),
        [
            line("    indented".strip(), 700 - 12 * len(WRAPPED), left=84.0),
            line("and on", 688 - 12 * len(WRAPPED)),
        ][:1],
    ],
    ids=["gap", "size", "font", "column", "indent"],
)
def test_paragraphs_end(second):
    found = texts([*lines_of(PROSE), *second])
    assert found[0] == WRAPPED
    assert found[1:] == [[line.text for line in second]]


def test_a_full_last_line_ends_at_an_indent_behind_a_sentence():
    full = "x" * (WIDTH - 1) + "."
    page = [
        line("y" * WIDTH, 700),
        line(full, 688),
        line("Next " + "z" * (WIDTH - 7), 676, left=82),
        line("w" * WIDTH, 664),
    ]
    assert [len(part) for part in texts(page)] == [2, 2]
    hanging = [line("y" * WIDTH, 700), line("z" * (WIDTH - 2), 688, left=82)]
    assert [len(part) for part in texts(hanging)] == [2]


def test_items_of_lists():
    page = [
        line("• " + "a" * (WIDTH - 2), 700),
        line("and on with it", 688, left=80),
        line("2. second", 676),
        line("(b) third", 664),
    ]
    assert [len(part) for part in texts(page)] == [2, 1, 1]
    assert all(part.is_item for part in paragraphs(page, 0, 12.0, 10.0))
    assert without_bullet("•今天") == "- 今天"
    assert without_bullet("– a") == "- a"
    assert without_bullet("-a") == "-a"


def test_short_lines_are_verse_or_a_table():
    page = [
        line(text, 700 - 12 * number)
        for number, text in enumerate(["short", "a line that is long " * 3, "b", "c"])
    ]
    (found,) = paragraphs(page, 0, 12.0, 10.0)
    assert found.is_kept


def test_code_keeps_its_indents():
    page = [line("def f():", 700, mono=True), line("return 1", 688, left=92.0, mono=True)]
    (found,) = paragraphs(page, 0, 12.0, 10.0)
    assert kept_lines(found.lines) == "def f():\n    return 1"


@pytest.mark.parametrize(
    ("end", "begin", "count"),
    [
        ("in the middle of", "a sentence.", 1),
        ("a divided hy-", "phen", 1),
        ("the end.", "next", 2),
        ("the end", "Next", 2),
        ("今天天气", "很好。", 1),
        ("今天天气很好。", "明天", 2),
        ("a list", "• item", 2),
    ],
)
def test_a_sentence_goes_on_over_a_page(end, begin, count):
    pages = [paragraphs([line(end, 60)], 0, 12.0, 10.0), paragraphs([line(begin, 700)], 1, 12.0, 10.0)]
    assert len(join_over_pages(pages, 10.0)) == count


def test_a_sentence_goes_on_over_a_column():
    left, right = line("in the middle", 90), line("of it", 700, left=350)
    joined = join_over_pages([paragraphs([left, right], 0, 12.0, 10.0)], 10.0)
    assert [[line.text for line in part.lines] for part in joined] == [["in the middle", "of it"]]


def test_a_footnote_does_not_come_between():
    first = [
        *paragraphs([line("in the middle", 90)], 0, 12.0, 10.0),
        *paragraphs([line("1 note", 60, size=7)], 0, 12, 10),
    ]
    joined = join_over_pages([first, paragraphs([line("of it", 700)], 1, 12.0, 10.0)], 10.0)
    assert [[line.text for line in part.lines] for part in joined] == [["in the middle", "of it"], ["1 note"]]


def test_the_body_is_what_most_characters_are_set_in():
    pages = [[line("Title", 700, size=20)], lines_of(PROSE), [line("note", 60, size=7)]]
    assert body_size(pages) == 10.0
    assert line_distance(pages, 10.0) == 12.0
    assert (body_size([]), line_distance([], 10.0)) == (0.0, 12.0)
