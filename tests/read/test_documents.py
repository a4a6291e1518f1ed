"""The one entrance: every format to documents with ids, groups and counted damage."""

import gzip
import json
import os

import pytest
import xxhash
import zstandard

from danlu.errors import InputError
from danlu.read.documents import fingerprint, preview, read_documents
from danlu.read.settings import Source


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
