"""Parquet sources: columns, rows, damage."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from danlu.errors import InputError
from danlu.read.parquet import read_parquet
from danlu.read.raw import Damage


def write(path, **columns):
    pq.write_table(pa.table(columns), path, row_group_size=100)
    return path


def read(path, limit=1000):
    return list(read_parquet(path, path.name, "text", "id", limit))


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


def test_text_that_is_not_utf8_is_a_damage(tmp_path):
    bad = pa.array([b"\xff"]).view(pa.string())
    (damage,) = read(write(tmp_path / "a.parquet", text=bad))
    assert damage.reason == "corrupt"
