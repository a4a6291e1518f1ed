"""The page is one file that loads nothing and runs nothing."""

import re

from danlu.chart.line import Series, line_chart
from danlu.chart.markup import paragraph
from danlu.chart.page import Section, page


def make() -> str:
    chart = line_chart([Series("a", [0, 1], [1, 2])], "t", "x", "y")
    return page(
        "A <title>", [Section("One", chart, "note & more"), Section("Two", paragraph("text"))], "under"
    )


def test_it_is_self_contained():
    text = make()
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)""", text)
    assert "@import" not in text
    assert "url(" not in text
    assert "<script" not in text
    assert "default-src 'none'" in text
    assert "http" not in text.replace("http-equiv", "")


def test_it_follows_the_reader():
    text = make()
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text
    assert 'lang="en"' in text
    assert "max-width: 640px" in text


def test_titles_are_escaped_and_linked():
    text = make()
    assert "<title>A &lt;title&gt;</title>" in text
    assert "note &amp; more" in text
    for anchor in re.findall(r'href="#([^"]+)"', text):
        assert f'id="{anchor}"' in text


def test_every_class_in_use_has_a_style():
    text = make()
    style = text[text.index("<style>") : text.index("</style>")]
    used = {name for names in re.findall(r'class="([^"]+)"', text) for name in names.split()}
    without = {name for name in used if f".{name}" not in style}
    assert without <= {"solid", "points"}
