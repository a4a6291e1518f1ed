"""Nothing that a text holds can become markup or disturb the page."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.chart import markup
from danlu.chart.markup import escape, headline, paragraph, quotation, table

NASTY = "<script>alert('x')</script><img src=x onerror=y>\" & \x00\x1b\x7f\x9b\ud800"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


def tags_of(html: str) -> Tags:
    parser = Tags()
    parser.feed(html)
    parser.close()
    return parser


@pytest.mark.parametrize(
    "html",
    [
        paragraph(NASTY, NASTY),
        markup.heading(NASTY),
        markup.code(NASTY, NASTY),
        headline([(NASTY, NASTY, NASTY)]),
        table([NASTY], [[NASTY]], NASTY),
        quotation(NASTY, NASTY, NASTY),
        markup.figure(paragraph(NASTY), NASTY),
        markup.columns([paragraph(NASTY)]),
        markup.folded(NASTY, paragraph(NASTY)),
    ],
)
def test_no_text_becomes_a_tag(html):
    assert not {"script", "img"} & set(tags_of(html).tags)
    html.encode("utf-8")


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_escaped_text_is_read_as_the_text(text):
    assert tags_of(f"<p>{escape(text)}</p>").text == text


def test_control_characters_are_shown():
    assert escape("\x00\x03\n\t\x7f\x85") == "\u2400\u2403\n\t\u2421\ufffd"


def test_a_table_has_its_cells_and_aligns_numbers():
    html = table(["name", "a", "b"], [["x", "1", "2"], ["y", "3", "4"]], "caption")
    tags = tags_of(html).tags
    assert (tags.count("th"), tags.count("td"), tags.count("caption")) == (3, 6, 1)
    assert html.count('class="number"') == 6
