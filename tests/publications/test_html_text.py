"""A page of XHTML: what a reader reads."""

import pytest

from danlu.publications.blocks import HEADING, ITEM, PARAGRAPH, ROW, Block, join_blocks
from danlu.publications.html_text import page_blocks
from small_publications import xhtml


def text_of(body):
    return join_blocks(page_blocks(xhtml(body).encode()).blocks)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>a  b\n c</p><p>d</p>", "a b c\n\nd"),
        ("<div>a<p>b</p>c</div>", "a\n\nb\n\nc"),
        ("<p>a<br/>b</p>", "a\nb"),
        ("<p>a <em>b</em><b>c</b></p>", "a bc"),
        ("<p>今天<ruby>天<rp>(</rp><rt>tiān</rt><rp>)</rp></ruby>气</p>", "今天天气"),
        ("<pre>\n  a\n    b  \n\nc\n</pre>", "  a\n    b\n\nc"),
        ("<ul><li>a</li><li><p>b</p><p>c</p></li></ul><p>d</p>", "- a\n- b\n  c\n\nd"),
        ("<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>", "1. a\n  - b\n2. c"),
        ('<ol start="5"><li>a</li></ol>', "5. a"),
        (
            "<table><tr><th>a</th><th>b</th></tr><tr><td>c<br/>d</td><td><p>e</p></td></tr></table>",
            "a\tb\nc d\te",
        ),
        ("<table><tr><td></td><td>b</td></tr><tr><td> </td><td/></tr></table>", "\tb"),
        ("<table><tr><td><p>a</p><p>b</p></td></tr></table>", "a\n\nb"),
        ("<table><tr><td>a<table><tr><td>b</td></tr></table></td><td>c</td></tr></table>", "a b\tc"),
        ("<table><td>a</td><td>b</td></table><p>c</p>", "a\tb\n\nc"),
        ("<table><td>a</td><tr><td>b</td><td>c</td></tr></table>", "a\n\nb\tc"),
        ("x<td>a</td>", "x\n\na"),
        ("<dl><dt>a</dt><dd>b</dd></dl>", "a\n\nb"),
        ('<p><img alt="W"/>hen <img alt="a picture"/>it</p>', "When it"),
        ("<p>a</p><script>x</script><style>y</style><svg><text>z</text></svg>", "a"),
        ('<nav><ol><li><a href="x">c</a></li></ol></nav><p hidden="">b</p>', ""),
        ("<p>   </p><p>\xa0</p><div/>", ""),
        ("<p>\U0001f600 e\u0301 \ufeff</p>", "\U0001f600 e\u0301 \ufeff"),
    ],
)
def test_text(body, text):
    assert text_of(body) == text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('a<a epub:type="noteref" href="#n1"><sup>1</sup></a>', "a[1]"),
        ('a<sup><a href="#n1">[2]</a></sup>', "a[2]"),
        ('a<a role="doc-noteref" href="#n1">*</a>', "a[*]"),
        (
            '<aside epub:type="footnote"><p>1. Note <a epub:type="backlink" href="#a">↩</a></p></aside>',
            "1. Note",
        ),
        ('a<span epub:type="pagebreak" title="12">12</span>b', "ab"),
        ('<h1>x<a class="headerlink" href="#x">¶</a></h1>', "x"),
        ('<div class="pg-boilerplate">The Project Gutenberg eBook</div>a', "a"),
        ('<section epub:type="toc"><a href="x">c</a></section>a', "a"),
    ],
)
def test_notes_stay_and_guides_go(body, text):
    assert text_of(body) == text


def test_formulae_are_their_tex():
    math = '<math alttext="x^2"><msup><mi>x</mi><mn>2</mn></msup></math>'
    annotated = '<math><mi>y</mi><annotation encoding="application/x-tex">y_1</annotation></math>'
    assert text_of(f"<p>a {math} b {annotated} c <math><mi>z</mi></math></p>") == "a $x^2$ b $y_1$ c z"


def test_headings_have_levels():
    assert page_blocks(xhtml("<h2>A<br/>b</h2><p>c</p><h4> </h4>").encode()).blocks == [
        Block(HEADING, "A b", 2),
        Block(PARAGRAPH, "c"),
    ]


def test_kinds():
    body = "<ul><li>a</li></ul><table><tr><td>b</td><td>c</td></tr></table>"
    assert [block.kind for block in page_blocks(xhtml(body).encode()).blocks] == [ITEM, ROW]


def test_the_share_of_links():
    page = page_blocks(xhtml('<p><a href="x">1234567</a>890</p>').encode())
    assert page.linked_share == 0.7
    assert page_blocks(b"<a/>").linked_share == 0


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"<html><p>a<p>b &eacute; c", "a\n\nb é c"),
        ("<p>caf\xe9 < 3".encode("cp1252"), "café < 3"),
        ("<p>今天<br>b".encode("utf-16"), "今天\nb"),
        (b"<p>" * 2000 + b"a", "a"),
        (b"", ""),
        (b"\x00", "\x00"),
        (b"a < b", "a < b"),
        (b"a" * 1000, "a" * 1000),
    ],
)
def test_what_is_no_xml_is_read_as_html(data, text):
    assert join_blocks(page_blocks(data).blocks) == text


def test_an_entity_bomb_is_refused():
    with pytest.raises(ValueError, match="declares an entity"):
        page_blocks(b'<!DOCTYPE html [<!ENTITY a "b">]><html>&a;</html>')
