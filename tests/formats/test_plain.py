"""Plain text: what one document is."""

import io

import pytest

from danlu.formats.plain import read_plain
from danlu.formats.raw import Damage

TEXT = "\ufeffFirst line.\r\nsecond\r\n\r\n \r\nSecond paragraph ünd more.\n\n\nThird.\n".encode()


def read(document, data=TEXT, limit=1000):
    return list(read_plain(io.BytesIO(data).read, "a.txt", document, limit))


@pytest.mark.parametrize(
    ("document", "texts"),
    [
        ("file", [TEXT.decode("utf-8-sig")]),
        ("line", ["First line.", "second", "Second paragraph ünd more.", "Third."]),
        ("blank_line", ["First line.\r\nsecond", "Second paragraph ünd more.", "Third.\n"]),
        ("paragraph", [TEXT.decode("utf-8-sig").split("paragraph")[0], " ünd more.\n\n\nThird.\n"]),
    ],
)
def test_documents_and_their_byte_ranges(document, texts):
    found = read(document)
    assert [raw.text for raw in found] == texts
    assert [TEXT[raw.start : raw.end].decode() for raw in found] == texts


@pytest.mark.parametrize("separator", ["\n\n", "\n---\n", "---\n"])
def test_a_separator_is_found_whatever_the_line_ends_are(separator):
    texts = ["one.", "two\nlines", "three"]
    unix = separator.join(texts)
    dos = unix.replace("\n", "\r\n")
    assert [raw.text for raw in read(separator, unix.encode())] == texts
    found = read(separator, dos.encode())
    assert [raw.text.replace("\r\n", "\n") for raw in found] == texts
    assert [dos[raw.start : raw.end] for raw in found] == [raw.text for raw in found]


def test_a_file_is_the_group_of_its_document_and_of_no_other():
    assert [raw.group for raw in read("file")] == ["a.txt"]
    assert {raw.group for raw in read("line")} == {None}


def test_a_long_line_is_counted_and_the_others_go_on():
    data = b"short\n" + b"x" * 50_000_000 + b"\nanother\n"
    before, damage, after = read("line", data, limit=1_000_000)
    assert damage == Damage("too_long", "a.txt", None, "starts at byte 6, longer than 1000000 bytes")
    assert (before.text, after.text, after.start) == ("short", "another", 50_000_007)


def test_a_long_file_is_counted():
    assert [type(item) for item in read("file", limit=10)] == [Damage]


def test_nul_is_kept_for_the_normaliser():
    assert read("file", b"a\0b")[0].text == "a\0b"


def test_white_space_is_no_document():
    assert read("file", b" \n\t\n") == []
    assert read("line", b"") == []
