"""Parquet sources: columns, rows, damage."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from danlu.errors import InputError
from danlu.extract.record import Fields
from danlu.formats.parquet import read_parquet, row_group_bytes
from danlu.formats.raw import Damage


def write(path, **columns):
    pq.write_table(pa.table(columns), path, row_group_size=100)
    return path


def read(path, limit=1000):
    return list(read_parquet(path, path.name, Fields(), limit))


def test_rows_in_order_over_row_groups(tmp_path):
    texts = [f"text {number}" for number in range(701)]
    found = read(write(tmp_path / "a.parquet", text=texts, id=list(range(701)), other=texts))
    assert [raw.text for raw in found] == texts
    assert (found[700].id, found[700].start, found[700].end) == ("700", 700, 701)


def test_rows_without_text_or_too_long_are_counted(tmp_path):
    found = read(write(tmp_path / "a.parquet", text=[None, "ü" * 501, "good"]))
    assert [item.reason for item in found[:2]] == ["missing_text", "too_long"]
    assert (found[2].text, found[2].id, found[2].start) == ("good", None, 2)


def test_a_missing_column_lists_those_that_there_are(tmp_path):
    with pytest.raises(InputError, match="no column 'text', only: content, n; set text_field"):
        read(write(tmp_path / "a.parquet", content=["a"], n=[1]))
    with pytest.raises(InputError, match="holds int64, not text"):
        read(write(tmp_path / "b.parquet", text=[1]))


def test_a_truncated_file_is_a_damage(tmp_path):
    path = write(tmp_path / "a.parquet", text=["a"] * 50)
    path.write_bytes(path.read_bytes()[:-9])
    assert [(type(item), item.reason) for item in read(path)] == [(Damage, "corrupt")]


@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary"])
def test_a_row_that_is_not_utf8_costs_no_other_row(tmp_path, kind):
    texts = [f"text {number}".encode() for number in range(701)]
    texts[300], texts[301] = b"caf\xe9 \xff", None
    bad = pa.array(texts).view(pa.string())
    if kind == "large_string":
        bad = pa.array(texts, pa.large_binary()).view(pa.large_string())
    elif kind == "dictionary":
        bad = bad.dictionary_encode()
    found = read(write(tmp_path / "a.parquet", text=bad, id=list(range(701))))
    replaced, missing = (item for item in found if isinstance(item, Damage))
    assert replaced == Damage(
        "replaced_bytes", "a.parquet", 300, "2 undecodable places of 'text' became U+FFFD"
    )
    assert (missing.reason, missing.line) == ("missing_text", 301)
    rows = [item for item in found if not isinstance(item, Damage)]
    assert [row.id for row in rows] == [str(number) for number in range(701) if number != 301]
    assert [rows[place].text for place in (299, 300, 301)] == ["text 299", "caf\ufffd \ufffd", "text 302"]


def test_metadata_that_is_not_utf8_is_counted_too(tmp_path):
    bad = pa.array([b"\xff", b"u"]).view(pa.string())
    tags = pa.ListArray.from_arrays(pa.array([0, 1, 2]), bad)
    path = write(tmp_path / "a.parquet", text=["a", "b"], url=bad, tags=tags, n=[1, 2])
    found = list(read_parquet(path, "a", Fields(metadata=("tags", "n")), 1000))
    damages, (first, second) = found[:2], found[2:]
    assert sorted((damage.reason, damage.line) for damage in damages) == [
        ("replaced_bytes", 0),
        ("undecodable", 0),
    ]
    assert (first.text, first.metadata) == ("a", {"url": "\ufffd", "n": "1"})
    assert (second.text, second.metadata) == ("b", {"url": "u", "tags": '["u"]', "n": "2"})


def test_parts_are_row_groups_with_the_rows_numbers(tmp_path):
    path = write(tmp_path / "a.parquet", text=[str(number) for number in range(250)])
    whole = read(path)
    parts = [
        read_parquet(path, path.name, Fields(), 1000, start, end)
        for start, end in ((0, 1), (1, 2), (2, None))
    ]
    assert [raw for part in parts for raw in part] == whole
    assert len(row_group_bytes(path)) == 3
    assert all(0 < size < 1000 for size in row_group_bytes(path))


def test_a_broken_file_has_no_row_groups(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and no more")
    assert row_group_bytes(tmp_path / "a.parquet") == []


def test_a_template_takes_numbers_and_metadata_is_kept(tmp_path):
    path = write(tmp_path / "a.parquet", n=[1, 2], text=["a", None], url=["u", None], tags=[["x"], []])
    fields = Fields(template="{n}. {text}", metadata=("tags",))
    first, second = read_parquet(path, path.name, fields, 1000)
    assert (first.text, first.metadata) == ("1. a", {"url": "u", "tags": '["x"]'})
    assert (second.text, second.metadata) == ("2. ", {"tags": "[]"})


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (Fields(template="{title}"), "no column 'title', only: text, tags; set template"),
        (Fields(template="{tags}"), "column 'tags' holds list.*set template"),
        (Fields(metadata=("score",)), "no column 'score', only: text, tags; set metadata_fields"),
    ],
)
def test_a_column_that_is_asked_for_must_be_there(tmp_path, fields, words):
    path = write(tmp_path / "a.parquet", text=["a"], tags=[["x"]])
    with pytest.raises(InputError, match=words):
        list(read_parquet(path, path.name, fields, 1000))


def test_a_remote_file_is_read(tmp_path):
    path = write(tmp_path / "a.parquet", text=["a", "b"])
    assert [raw.text for raw in read_parquet(f"file://{path}", "a", Fields(), 1000)] == ["a", "b"]
