"""Running heads and page numbers are found by coming again; what stands in the text stays."""

import pytest

from danlu.publications.pdf_lines import Line, Page
from danlu.publications.running_heads import without_running_heads


def line(text, bottom, left=72.0):
    return Line(text, left, left + 5 * len(text), bottom, 10.0, False)


def page(head, foot, body):
    middle = [line(text, 700.0 - 12 * number) for number, text in enumerate(body)]
    return Page(tuple(line(*edge) for edge in [*head, *foot]) + tuple(middle), 792.0)


def body(number):
    return [
        f"Sentence {word} of page number {'abcdefghij'[number]}" for word in ("one", "two", "three", "four")
    ]


def texts(pages):
    return [[line.text for line in lines] for lines in pages]


@pytest.mark.parametrize(
    ("head", "foot"),
    [
        (lambda n: [], lambda n: [(str(n + 1), 40.0)]),
        (lambda n: [("The book", 750.0)], lambda n: [(f"- {n + 1} -", 40.5 + n % 2)]),
        (lambda n: [(f"Chapter {n // 2}", 750.0)], lambda n: [("ii" if n == 1 else "xiv", 40.0)]),
        (lambda n: [("left", 760.0), ("second line", 748.0)], lambda n: []),
        (lambda n: [(f"{n} even" if n % 2 else f"odd title {n}", 750.0)], lambda n: []),
        (lambda n: [("head", 760.0)] if n else [], lambda n: [("foot", 30.0)] if n != 3 else []),
    ],
)
def test_what_comes_again_goes(head, foot):
    pages = [page(head(number), foot(number), body(number)) for number in range(8)]
    assert texts(without_running_heads(pages)) == [body(number) for number in range(8)]


def test_chapters_of_one_page_share_their_height():
    heads = ["One", "Two", "Three", "Three", "Three", "Four", "Four", "Four"]
    pages = [page([(head, 750.0)], [], body(number)) for number, head in enumerate(heads)]
    assert texts(without_running_heads(pages)) == [body(number) for number in range(8)]


def test_the_text_at_the_edges_stays():
    pages = [page([], [], body(number)) for number in range(8)]
    assert texts(without_running_heads(pages)) == [body(number) for number in range(8)]


def test_a_line_that_comes_again_within_the_text_stays():
    pages = [
        page(
            [],
            [],
            ["a" * number, "b" * number, "c" * number, "d" * number, "e" * number, "again", *body(number)],
        )
        for number in range(1, 9)
    ]
    assert all("again" in lines for lines in texts(without_running_heads(pages)))


def test_short_files_lose_their_own_numbers_alone():
    pages = [
        page([("Title", 750.0)], [(f"Page {number + 1} of 2", 40.0)], body(number)) for number in range(2)
    ]
    assert texts(without_running_heads(pages)) == [["Title", *body(0)], ["Title", *body(1)]]
    assert texts(without_running_heads([page([], [("7", 40.0)], body(0))])) == [["7", *body(0)]]
    assert without_running_heads([]) == []
    assert without_running_heads([Page((), 792.0)]) == [[]]
