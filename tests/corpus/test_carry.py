"""Documents between rounds come back as they were, whatever is in them; a damaged file is refused."""

import math

import pytest

from danlu.corpus import carry
from danlu.corpus.carry import Passing, read_carried, write_carried
from danlu.errors import DamagedError
from danlu.records import Document
from danlu.words.text import Text


def passing(index, text="Some text.", **more):
    document = Document(f"id{index}", "as read", "a.txt", "prose", "group", 3, 9, True, **more)
    return Passing(index, document, Text(text, "en"), 17, [1.5, math.nan], "plain")


def written(path, rows):
    with write_carried(path) as writer:
        for row in rows:
            writer.add(row)
    return list(read_carried(path, "auto"))


@pytest.mark.parametrize("group_bytes", [1, 60, 10**6])
def test_what_is_read_is_what_was_written(tmp_path, monkeypatch, group_bytes):
    monkeypatch.setattr(carry, "_GROUP_BYTES", group_bytes)
    texts = ["Some text.", "", "文字 \U0001f600", "a\0b\r\n", "x" * 999]
    rows = [passing(3 * n, text, metadata={"url": "http://a.b/?q=é"}) for n, text in enumerate(texts)]
    back = written(tmp_path / "a.parquet", rows)
    for row, found in zip(rows, back, strict=True):
        assert (found.index, found.text.text, found.text.language) == (row.index, row.text.text, "en")
        assert (found.read_bytes, found.splitter, found.values[0]) == (17, "plain", 1.5)
        assert math.isnan(found.values[1])
        assert found.document.metadata == row.document.metadata
        assert (found.document.group, found.document.given_id, found.document.end) == ("group", True, 9)


def test_no_documents_are_a_file_too(tmp_path):
    assert written(tmp_path / "a.parquet", []) == []


def test_a_failure_leaves_no_file(tmp_path):
    path = tmp_path / "a.parquet"
    with pytest.raises(AttributeError), write_carried(path) as writer:
        writer.add(None)
    assert not path.exists()


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "corpus.work" / "round-0" / "shard-000000" / "a.parquet"
    path.parent.mkdir(parents=True)
    written(path, [passing(n, "word " * 300) for n in range(9)])
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(DamagedError, match=r"a.parquet is damaged .* remove .*corpus.work and type"):
        list(read_carried(path, "auto"))
