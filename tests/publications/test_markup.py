"""XML of strangers: the same events as a plain parser's, nothing expanded, nothing loaded."""

import xml.etree.ElementTree as ET
from contextlib import suppress

import pytest

from danlu.publications.markup import MOST_DEPTH, MalformedError, read_html, read_tree, read_xml

LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


class Said:
    """Events as one line."""

    def __init__(self):
        self.parts = []

    def start(self, name, attributes):
        self.parts.append(f"<{name}" + "".join(f" {key}={value}" for key, value in attributes.items()) + ">")

    def end(self, name):
        self.parts.append(f"</{name}>")

    def data(self, text):
        self.parts.append(text)

    def line(self):
        return "".join(self.parts)


def said_of(read, data):
    events = Said()
    read(data, events)
    return events.line()


@pytest.mark.parametrize(
    "data",
    [
        b"<a/>",
        b"<a x='1'>b<c>d</c>e</a>",
        "<a>今天 <b>\U0001f600</b></a>".encode(),
        b"<a>&lt;&#65;&#x4eca;</a>",
    ],
)
def test_a_tree_is_the_librarys(data):
    assert ET.tostring(read_tree(data)) == ET.tostring(ET.fromstring(data))


def test_names_come_without_their_namespace():
    data = b'<w:a xmlns:w="urn:w" w:val="1"><b xmlns="urn:b"/></w:a>'
    assert said_of(read_xml, data) == "<a val=1><b></b></a>"


def test_htmls_characters_are_known():
    doctype = (
        b'<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">'
    )
    for front in (b"", doctype, b"<!DOCTYPE html>"):
        assert said_of(read_xml, front + b"<a>x&nbsp;y&eacute;&nosuch;</a>") == "<a>x\xa0yé&nosuch;</a>"


@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY l0 "lol">' + LAUGHS,
        '<!ENTITY l9 SYSTEM "file:///etc/passwd">',
        '<!ENTITY % l9 SYSTEM "http://localhost/x.dtd"> %l9;',
        '<!ENTITY l9 "' + "x" * 100_000 + '">',
    ],
    ids=["laughs", "file", "parameter", "quadratic"],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_declared_entities_are_refused(declared, encoding):
    data = f"<!DOCTYPE a [{declared}]><a>{'&l9;' * 100}</a>".encode(encoding)
    with pytest.raises(ValueError, match="declares an entity"):
        read_tree(data)


@pytest.mark.parametrize(
    "data",
    [b"", b"<a>", b"<a></b>", b"text", b"<a/><b/>", b"<a>\xff</a>", b"\x00", b"<?xml encoding='no'?><a/>"],
)
def test_what_is_no_xml_is_said(data):
    with pytest.raises(MalformedError, match="no well-formed XML"):
        read_tree(data)


@pytest.mark.parametrize("read", [read_xml, read_html])
def test_depth_is_bounded(read):
    deep = "<a>" * MOST_DEPTH + "</a>" * MOST_DEPTH
    assert said_of(read, deep.encode() if read is read_xml else deep) == deep
    deep = f"<a>{deep}</a>"
    with pytest.raises(ValueError, match="nested more than"):
        said_of(read, deep.encode() if read is read_xml else deep)


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("<P CLASS=x>a<br>b", "<p class=x>a<br></br>b</p>"),
        ("<p>a<p>b", "<p>a</p><p>b</p>"),
        ("<ul><li>a<li>b</ul>", "<ul><li>a</li><li>b</li></ul>"),
        ("<b><i>a</b>c</i>", "<b><i>a</i></b>c"),
        ("<title/>a<script/>b", "<title></title>a<script></script>b"),
        ("a</p></div>", "a"),
        ("&eacute;&#x4eca;&amp", "é今&"),
        ("<epub:x y:z=1>", "<x z=1></x>"),
        ("<!-- c --><?pi?><!DOCTYPE x>e", "e"),
        ("<!-- never ended <b>a", "a"),
        ("a < b <3 <", "a < b <3 <"),
        ("a<b c='>' d=\"x'y\" e>f", "a<b c=> d=x'y e=>f</b>"),
        ("a<b c='>d", "a<b c=>d</b>"),
        ("a<b", "a"),
        ("<script>if (a < b) {</b>}</SCRIPT>c", "<script>if (a < b) {</b>}</script>c"),
        ("<style>never ended", "<style>never ended</style>"),
        ("</ >a</>", "a"),
        ("<p>" * 2000, "<p></p>" * 2000),
    ],
)
def test_html_ends_what_is_open(page, said):
    assert said_of(read_html, page) == said


@pytest.mark.parametrize(
    "part",
    [
        "<!--",
        "<a ",
        "<",
        "</",
        "<![",
        "<?",
        "&#",
        "<a b='",
        '<a b="',
        "<script>",
        "<a b=\"'>",
        "&a",
        "<p>",
        "</p>",
    ],
)
def test_html_is_read_in_linear_time(part):
    class Counted(str):
        """Text that counts the characters through which is searched."""

        searched = 0

        def find(self, wanted, start=0):
            found = super().find(wanted, start)
            Counted.searched += (found if found >= 0 else len(self)) - start
            return found

    text = Counted(part * 20_000)
    with suppress(ValueError):  # nested too deep
        read_html(text, Said())
    assert Counted.searched <= 5 * len(text)


def test_defaults_of_attributes_are_refused():
    declared = '<!DOCTYPE a [<!ATTLIST b c CDATA "' + "x" * 1000 + '">]><a>' + "<b/>" * 1000 + "</a>"
    said = Said()
    with pytest.raises(ValueError, match="default of an attribute"):
        read_xml(declared.encode(), said)
    assert said.parts == []
    assert said_of(read_xml, b"<!DOCTYPE a [<!ATTLIST a b CDATA #IMPLIED>]><a b='c'/>") == "<a b=c></a>"
