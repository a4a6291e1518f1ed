"""The one entrance: every format to documents with ids, groups and counted damage."""

import bz2
import gc
import gzip
import json
import os
import random
from pathlib import Path

import pytest
import xxhash
import zstandard

from danlu.errors import InputError
from danlu.formats.raw import Piece
from danlu.read.documents import fingerprint, preview, read_documents, read_pieces
from danlu.read.settings import Source
from web_archive import PAGE, conversion, response


def read(folder, *, limit=1_000_000, **settings):
    damages = []
    source = Source(**{"domain": "d", "paths": ["*"], **settings})
    return list(read_documents(source, folder, limit, damages.append)), damages


def test_an_id_is_the_hash_of_the_text_unless_one_is_given(tmp_path):
    (tmp_path / "a.txt").write_text("Grüße")
    (tmp_path / "b.jsonl").write_text('{"text": "other", "id": "x1"}')
    (plain, given), damages = read(tmp_path)
    assert plain.id == xxhash.xxh3_128_hexdigest("Grüße".encode())
    assert (plain.group, given.id, given.group, given.domain) == ("a.txt", "x1", "x1", "d")
    assert not damages


def test_a_given_id_is_told_from_a_hash(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "one", "id": 1}\n{"text": "two", "id": 1}\n{"text": "two"}')
    documents, damages = read(tmp_path)
    assert [(document.text, document.given_id) for document in documents] == [
        ("one", True),
        ("two", True),
        ("two", False),
    ]
    assert not damages


def test_lone_surrogates_are_replaced_and_counted(tmp_path):
    (tmp_path / "a.jsonl").write_text(r'{"text": "a\ud800b"}' + "\n" + r'{"text": "\ud83d\ude00"}')
    documents, damages = read(tmp_path)
    assert [document.text for document in documents] == ["a\ufffdb", "😀"]
    assert [damage.reason for damage in damages] == ["lone_surrogates"]


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst"])
def test_a_truncated_stream_keeps_the_documents_before_it(tmp_path, name):
    # Random-looking texts, so that half of the compressed bytes is about half of the documents.
    lines = [json.dumps({"text": xxhash.xxh3_128_hexdigest(str(n).encode()) * 9}) for n in range(6_000)]
    data = "\n".join(lines).encode()
    packed = gzip.compress(data) if name.endswith("gz") else zstandard.compress(data)
    (tmp_path / name).write_bytes(packed[: len(packed) // 2])
    (tmp_path / "b.txt").write_text("the next file goes on")
    documents, damages = read(tmp_path)
    assert 1_000 < len(documents) < 6_000
    assert documents[-1].text == "the next file goes on"
    assert [(damage.reason, damage.source) for damage in damages] == [("truncated", name)]


def test_names_and_ids_that_are_not_unicode_are_shown_replaced(tmp_path):
    (tmp_path / os.fsdecode(b"caf\xe9.jsonl")).write_text(r'{"text": "a", "id": "\udc00"}')
    (document,), damages = read(tmp_path)
    assert (document.source, document.id) == ("caf\ufffd.jsonl", "?")
    assert not damages


def test_stray_bytes_are_replaced_and_counted(tmp_path):
    (tmp_path / "a.txt").write_bytes("größer über Öl".encode() + b"\xff")
    (document,), damages = read(tmp_path)
    assert document.text.endswith("Öl\ufffd")
    assert [damage.reason for damage in damages] == ["replaced_bytes"]


def test_a_declared_encoding_is_read(tmp_path):
    (tmp_path / "a.txt").write_bytes("今天天气很好".encode("gb18030"))
    assert read(tmp_path, encoding="gb18030")[0][0].text == "今天天气很好"


def test_stray_bytes_of_a_declared_encoding_are_counted_too(tmp_path):
    (tmp_path / "a.txt").write_bytes("天气".encode("gb18030") + b"\xff")
    (document,), damages = read(tmp_path, encoding="gb18030")
    assert document.text == "天气\ufffd"
    assert [damage.reason for damage in damages] == ["replaced_bytes"]


def test_an_undeclared_encoding_names_the_key(tmp_path):
    (tmp_path / "a.jsonl").write_bytes('{"text": "我们的孩子在这里，他们是大人了。"}'.encode("gb18030"))
    with pytest.raises(InputError, match=r'a.jsonl is not UTF-8.*encoding = "gb18030"'):
        read(tmp_path)


def test_an_unknown_ending_names_the_key_that_reads_it(tmp_path):
    (tmp_path / "a.log").write_text("x")
    with pytest.raises(InputError, match=r'a.log: its name ends in none of .*format = "txt"'):
        read(tmp_path)
    assert read(tmp_path, format="txt")[0][0].text == "x"


def test_preview_gives_the_first_three_as_they_are_split(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\nfour\n")
    source = Source(domain="d", paths=["*.txt"], document="line")
    assert [document.text for document in preview(source, tmp_path)] == ["one", "two", "three"]


def test_the_fingerprint_changes_with_the_file_and_is_json(tmp_path):
    (tmp_path / "a.txt").write_text("one")
    source = Source(domain="d", paths=["*.txt", "python:docs"])
    before = fingerprint(source, tmp_path)
    assert json.loads(json.dumps(before)) == before == fingerprint(source, tmp_path)
    (tmp_path / "a.txt").write_text("two!")
    assert fingerprint(source, tmp_path) != before


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl"])
def test_one_stray_byte_in_a_line_is_counted_and_stops_nothing(tmp_path, name):
    lines = [json.dumps({"text": f"line {n}"}).encode() if name == "a.jsonl" else b"line" for n in range(9)]
    lines[4] = lines[4].replace(b"line", b"l\x92ne")
    (tmp_path / name).write_bytes(b"\n".join(lines))
    documents, damages = read(tmp_path, **({} if name == "a.jsonl" else {"document": "line"}))
    assert len(documents) == 9
    assert [damage.reason for damage in damages] == ["replaced_bytes"]


def test_metadata_and_a_stated_language_reach_the_document(tmp_path):
    (tmp_path / "a.jsonl").write_text(
        r'{"text": "a", "url": "u", "title": "\ud800", "language": "en", "n": 1}'
    )
    (document,), damages = read(tmp_path, metadata_fields=["n"])
    assert document.metadata == {"url": "u", "title": "\ufffd", "language": "en", "n": "1"}
    assert document.language == ""
    assert read(tmp_path, language="de")[0][0].language == "de"
    assert not damages


def test_a_template_makes_the_text_and_the_id(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"title": "T", "text": "B"}')
    (document,), _ = read(tmp_path, template="{title}\n\n{text}")
    assert (document.text, document.id) == ("T\n\nB", xxhash.xxh3_128_hexdigest(b"T\n\nB"))


def test_pages_archives_and_code_are_documents(tmp_path):
    (tmp_path / "a.html").write_text(PAGE)
    (tmp_path / "b.warc.gz").write_bytes(
        b"".join(map(gzip.compress, [response(number=1), response(number=2)]))
    )
    (tmp_path / "c.warc.wet.gz").write_bytes(gzip.compress(conversion("盐是矿物".encode(), number=3)))
    documents, damages = read(tmp_path)
    assert [document.id for document in documents][1:] == ["urn:uuid:1", "urn:uuid:2", "urn:uuid:3"]
    assert documents[0].text == documents[1].text
    assert documents[0].group == "a.html"
    assert documents[1].metadata["url"] == "http://example.org/"
    assert not damages
    code, _ = read(tmp_path, paths=["*.html"], format="code")
    assert (code[0].text, code[0].metadata) == (PAGE, {"code_language": "HTML"})


def test_urls_are_read_and_fingerprinted(tmp_path):
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'{"text": "far"}'))
    source = Source(domain="d", paths=[f"file://{tmp_path}/*.gz"])
    (document,) = read_documents(source, tmp_path, 99, print)
    assert (document.text, document.source) == ("far", f"file://{tmp_path}/a.jsonl.gz")
    ((name, size, mark),) = fingerprint(source, tmp_path)
    assert (name, size, bool(mark)) == (document.source, (tmp_path / "a.jsonl.gz").stat().st_size, True)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are counted as Linux shows them")
def test_a_preview_leaves_no_process_behind(tmp_path):
    (tmp_path / "a.warc").write_bytes(b"".join(response(number=number) for number in range(9)))
    before = children()
    assert len(preview(Source(domain="d", paths=["*.warc"]), tmp_path)) == 3
    gc.collect()
    assert children() == before


def children():
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


GOOD = [json.dumps({"text": xxhash.xxh3_128_hexdigest(str(n).encode()) * 9, "id": n}) for n in range(1000)]


def flipped(data):
    middle = len(data) // 2
    return data[:middle] + bytes(byte ^ 0x55 for byte in data[middle : middle + 9]) + data[middle + 9 :]


@pytest.mark.parametrize(
    ("name", "data", "count", "reasons"),
    [
        ("a.jsonl.gz", gzip.compress("\n".join(GOOD).encode())[:-2000], range(900, 1000), ["truncated"]),
        ("a.jsonl.gz", flipped(gzip.compress("\n".join(GOOD).encode())), range(400, 1000), ["corrupt"]),
        (
            "a.jsonl.gz",
            gzip.compress("\n".join([*GOOD, ""]).encode()) + b"garbage",
            range(1000, 1001),
            ["corrupt"],
        ),
        ("a.jsonl.gz", b"".join(gzip.compress(f"{line}\n".encode()) for line in GOOD), range(1000, 1001), []),
        ("a.jsonl.bz2", bz2.compress("\n".join(GOOD).encode())[:-9], range(1001), ["truncated"]),
        (
            "a.jsonl",
            "\n".join([*GOOD[:5], '{"text": "x', *GOOD[5:]]).encode(),
            range(1000, 1001),
            ["malformed_json"],
        ),
        (
            "a.jsonl",
            "\n".join(GOOD).encode().replace(b"a", b"\xff", 1),
            range(1000, 1001),
            ["replaced_bytes"],
        ),
        ("a.jsonl", b"\xef\xbb\xbf" + "\n".join(GOOD).encode(), range(1000, 1001), []),
        ("a.jsonl", "\r\n".join(GOOD).encode(), range(1000, 1001), []),
        (
            "a.jsonl",
            b'{"text": 5}\n{"text": null}\n{"other": "x"}\n{"text": "good"}',
            range(1, 2),
            ["missing_text"] * 3,
        ),
        ("a.jsonl", (GOOD[0] + "\n" + GOOD[0]).encode(), range(2, 3), []),
        ("a.jsonl", b"", range(1), []),
        ("a.jsonl.gz", b"", range(1), ["truncated"]),
        ("a.jsonl", rb'{"text": "a\ud800b"}', range(1, 2), ["lone_surrogates"]),
        ("a.jsonl", b'{"text": ""}\n{"text": ""}\n{"text": "one"}', range(3, 4), []),
        ("a.jsonl", json.dumps({"text": "中文。" * 900_000}).encode(), range(1, 2), []),
        (
            "a.jsonl",
            json.dumps({"text": "x" * 30_000_000}).encode() + b'\n{"text": "y"}',
            range(1, 2),
            ["too_long"],
        ),
    ],
    ids=lambda value: None,
)
def test_dirty_input_loses_only_what_is_broken(tmp_path, name, data, count, reasons):
    (tmp_path / name).write_bytes(data)
    (tmp_path / "b.txt").write_text("the next file")
    documents, damages = read(tmp_path, limit=20_000_000)
    assert len(documents) - 1 in count
    assert documents[-1].text == "the next file"
    assert [damage.reason for damage in damages] == reasons
    assert all(damage.source == name for damage in damages)


def test_sites_of_one_domain_keep_their_own_questions(tmp_path):
    row = '<posts><row Id="1" PostTypeId="1" Title="T" Body="&lt;p&gt;about {}&lt;/p&gt;"/></posts>'
    for site in ("cooking.stackexchange.com", "law.stackexchange.com"):
        (tmp_path / site).mkdir()
        (tmp_path / site / "Posts.xml").write_text(row.format(site))
    documents, damages = read(tmp_path, paths=["**/Posts.xml"], format="stackexchange")
    assert [document.id for document in documents] == [
        "cooking.stackexchange.com#1",
        "law.stackexchange.com#1",
    ]
    assert not damages


def test_undecodable_bytes_of_a_book_are_counted(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"Character set encoding: UTF-8\n\n\nA caf\xe9.\n")
    _, damages = read(tmp_path, format="gutenberg")
    assert "replaced_bytes" in [damage.reason for damage in damages]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.txt", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\nendobj\n" * 999),
        ("a.jsonl", random.Random(1).randbytes(100_000)),
        ("a.txt", bytes(range(120, 136)) + b"\0"),
        ("a.md", b"PK\x03\x04" + b"text" * 99),
        ("a.txt.gz", gzip.compress(gzip.compress(b"packed twice"))),
    ],
    ids=["pdf", "random", "short", "zip", "gzip"],
)
@pytest.mark.parametrize("document", ["file", "line", "blank_line"])
def test_a_renamed_binary_is_one_damage_and_the_rest_goes_on(tmp_path, name, data, document):
    (tmp_path / name).write_bytes(data)
    (tmp_path / "b.txt").write_text("the next file")
    documents, damages = read(tmp_path, document=document)
    assert [document.text for document in documents] == ["the next file"]
    assert [(damage.reason, damage.source) for damage in damages] == [("binary", name)]


def test_a_renamed_binary_that_is_cut_in_pieces_is_one_damage(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(random.Random(1).randbytes(90_000))
    source = Source(domain="d", paths=["*.jsonl"])
    pieces = [Piece("a.jsonl", "a.jsonl", start, start + 30_000, 30_000) for start in (0, 30_000, 60_000)]
    damages = []
    assert not list(read_pieces(pieces, source, tmp_path, 1_000, damages.append))
    assert [damage.reason for damage in damages] == ["binary"]


def test_the_title_of_a_book_begins_the_path_of_its_sections(tmp_path):
    book = "Title: The Salt\n\n*** START OF THE PROJECT GUTENBERG EBOOK ***\n\n\n\nCHAPTER I\n\n\nSalt is salty.\n"
    (tmp_path / "a.txt").write_text(book)
    documents, _ = read(tmp_path, format="gutenberg", document="section")
    assert [document.text for document in documents] == ["The Salt > CHAPTER I\n\nSalt is salty."]
    assert documents[0].metadata["headings"] == "The Salt > CHAPTER I"
