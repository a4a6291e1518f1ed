"""A long XML file as the children of its root, whole or broken."""

import gzip
import io
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.dumps.found import Broken
from danlu.dumps.xml_stream import CHUNK_BYTES, MOST_DEPTH, read_parts
from danlu.errors import InputError
from danlu.extract.packed import decompress


def parts(data, limit=10_000, size=None):
    """Root, rows and breaks of a file, read `size` bytes at a time."""
    file = io.BytesIO(data)
    read = file.read if size is None else lambda _: file.read(size)
    return list(read_parts(read, "a.xml", ("row",), limit))


def names(found):
    return [
        each.reason if isinstance(each, Broken) else each.element.attributes.get("n", "-") for each in found
    ]


def test_children_come_with_their_attributes_text_and_children():
    root, first, second = parts(b'<a k="v">\n<row n="1"/>\n <row>x<b>y</b>&amp;<b> z </b></row></a>')
    assert (root.element.name, root.element.attributes, root.element.children) == ("a", {"k": "v"}, [])
    assert first.element.attributes == {"n": "1"}
    assert (second.element.text, second.element.child_text("b"), second.element.child_text("c")) == (
        "x&",
        "z",
        "",
    )
    assert [(root.start, root.end), (first.start, first.end)] == [(0, 10), (10, 24)]


@pytest.mark.parametrize("size", [1, 2, 7, 64])
@pytest.mark.parametrize(
    "row",
    [
        b'<row n="b" n="c"/>',
        b'<row n="b</row>',
        b"<row>&unknown;</row>",
        b'<row n="&unknown;"/>',
        b"<row>&#1;</row>",
        b"<row>\x00</row>",
        b"<row>\xff</row>",
        b"<row>\xed\xa0\x80</row>",
        b"<row></b></row>",
        b"<row><b></row>",
        b"<row n=b/>",
        b"<row",
        b"< row/>",
        b"<row>]]></row>",
        b"&unknown;",
    ],
)
def test_what_is_malformed_is_one_break_between_whole_children(row, size):
    data = b'<a><row n="1"/>' + row + b'<row n="2"/>\n<row n="3"/></a>'
    for found in (parts(data), parts(data, size=size)):
        assert names(found) == ["-", "1", "malformed", "2", "3"]
        # The place is where it breaks, which is within the row or at the start of the next.
        assert 15 <= found[2].start <= 15 + len(row) <= found[2].end


@pytest.mark.parametrize("cut", [3, 10, 16, 40, 60, 81])
def test_a_file_that_ends_early_gives_what_came_before(cut):
    data = b'<a><row n="1"/>' + b'<row n="2">' + b"text" * 10 + b"</row>" + b'<row n="3"/></a>'
    found = parts(data[:cut])
    whole = [name for name, end in (("-", 3), ("1", 15), ("2", 72)) if cut >= end]
    assert names(found) == [*whole, "truncated"]
    assert found[-1].end == cut


def test_a_broken_archive_gives_what_came_before():
    rows = b"".join(
        b'<row n="%d">%s</row>' % (number, b"%x" % (number * 7919**3)) for number in range(50_000)
    )
    packed = gzip.compress(b"<a>" + rows + b"</a>")
    read = decompress(io.BytesIO(packed[: len(packed) // 2]).read, "gzip", "a.gz")
    found = list(read_parts(read, "a.xml.gz", ("row",), 1000))
    assert names(found)[:3] == ["-", "0", "1"]
    assert names(found).count("truncated") == 1
    assert len(found) > 10_000


@pytest.mark.parametrize("length", [1000, 1_000_000])
@pytest.mark.parametrize(
    "form", [b'<row n="%s"/>', b"<row>%s</row>", b"<row><b>%s</b></row>", b"<row><!--%s--></row>"]
)
def test_a_child_that_is_too_long_is_passed_over(form, length):
    found = parts(b'<a><row n="1"/>' + form % (b"x" * length) + b'<row n="2"/></a>', limit=500)
    if b"!" in form and length < CHUNK_BYTES:  # a comment is no text
        assert names(found) == ["-", "1", "-", "2"]
    else:
        assert names(found) == ["-", "1", "too_long", "2"]


def test_many_empty_elements_and_deep_ones_are_too_much():
    assert names(parts(b"<a><row>" + b"<b/>" * 1000 + b'</row><row n="2"/></a>')) == ["-", "too_long", "2"]
    deep = b"<b>" * MOST_DEPTH + b"</b>" * MOST_DEPTH
    assert names(parts(b"<a><row>" + deep + b'</row><row n="2"/></a>')) == ["-", "too_deep", "2"]
    bomb = b"<a>" + b"<row>" * 200_000
    assert set(names(parts(bomb)[1:])) <= {"too_deep", "truncated"}


@pytest.mark.parametrize(
    "head",
    [
        b'<!DOCTYPE a [<!ENTITY x "y">]>',
        b'<!DOCTYPE a [<!ENTITY x "y"><!ENTITY z "&x;&x;&x;&x;">]>',
        b'<!DOCTYPE a SYSTEM "file:///etc/passwd">',
    ],
)
def test_a_document_type_is_refused(head):
    (found,) = parts(head + b"<a><row>&z;</row></a>")
    assert (found.reason, "document type" in found.detail) == ("document_type", True)


@pytest.mark.parametrize(
    ("data", "reason"), [(b"", "truncated"), (b"plain", "malformed"), (b"{}\n" * 99, "malformed")]
)
def test_what_is_no_xml_is_said_once(data, reason):
    assert names(parts(data)) == [reason]


def test_a_7z_archive_is_for_the_user_to_unpack():
    with pytest.raises(InputError, match="7z x"):
        parts(b"7z\xbc\xaf\x27\x1c\x00\x04" + bytes(100))


def test_encodings_are_those_that_a_file_declares():
    text = '<?xml version="1.0" encoding="{}"?><a><row n="ü"/></a>'
    for encoding in ("utf-8", "iso-8859-1", "utf-16"):
        assert names(parts(text.format(encoding).encode(encoding))) == ["-", "ü"]
    broken = '<?xml version="1.0" encoding="iso-8859-1"?><a><row></b><row n="ü"/></a>'
    assert names(parts(broken.encode("latin-1"))) == ["-", "malformed", "ü"]
    assert names(parts(b'\xef\xbb\xbf<a><row n="1"/></a>')) == ["-", "1"]


@given(
    rows=st.lists(
        st.sampled_from([b"<row n='%d'>t\xc3\xbc</row>\n", b"<row n='%d'", b"<row n='%d'>&no;</row>"]),
        max_size=12,
    ),
    size=st.integers(1, 40),
)
def test_whole_rows_are_all_found_however_they_are_read(rows, size):
    data = b"<a>" + b"".join(row % number for number, row in enumerate(rows)) + b"</a>"
    whole = [str(number) for number, row in enumerate(rows) if b"</row>\n" in row]
    found = parts(data, size=size)
    assert [name for name in names(found)[1:] if name.isdecimal()] == whole
    assert names(found) == names(parts(data))


def test_memory_stays_at_a_few_chunks():
    row = b"<row>" + b"x" * 1000 + b"</row>"
    pieces = iter([b"<a>", *[row * 60] * 200, b"</a>"])
    tracemalloc.start()
    count = sum(1 for _ in read_parts(lambda _: next(pieces, b""), "a", ("row",), 10_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 12_001
    assert peak < 10 * CHUNK_BYTES
