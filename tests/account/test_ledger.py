"""The ledger gives back what was written, finds by id and by number, and says when it is damaged."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from danlu.account.ledger import (
    NO_MATCH,
    Row,
    excerpt_of,
    find_numbers,
    find_rows,
    ledger_path,
    list_ledger,
    list_measures,
    measure_values,
    read_ledger,
    schema_of,
    table_of,
)
from danlu.account.writing import new_ledger
from danlu.errors import DamagedError, MissingError
from small_ledger import TEXTS, number_of, write_ledger

MEASURES = ("visible.characters", "wordy.words", "wordy.mean_length", "loud.upper_share")


def same(first: Row, second: Row) -> bool:
    def plain(row: Row) -> Row:
        return replace(row, similarity=0.0, values=())

    floats = [(first.similarity, second.similarity), *zip(first.values, second.values, strict=True)]
    return plain(first) == plain(second) and all(
        a == b or (math.isnan(a) and math.isnan(b)) for a, b in floats
    )


def test_what_is_read_is_what_was_written(tmp_path: Path):
    rows = write_ledger(tmp_path)
    assert list_measures(tmp_path) == MEASURES
    for row in rows:
        for key in (row.id, row.number):
            (found,) = find_rows(tmp_path, key)
            assert same(found, row)
    assert [
        number for batch in read_ledger(tmp_path, ["number"]) for number in batch["number"].to_pylist()
    ] == [number_of(ident) for ident, _ in TEXTS]


def test_columns_come_in_the_order_asked_for(tmp_path: Path):
    write_ledger(tmp_path)
    batch = next(read_ledger(tmp_path, ["reason", "wordy.words", "id"]))
    assert batch.column_names == ["reason", "wordy.words", "id"]
    assert measure_values(batch, "wordy.words")[0] == 4.0
    # What was not measured is null in the file and NaN in hand.
    assert batch["wordy.words"][2].as_py() is None
    assert math.isnan(measure_values(batch, "wordy.words")[2])
    with pytest.raises(MissingError, match=r"no column 'wordy\.lines'"):
        next(read_ledger(tmp_path, ["wordy.lines"]))


def test_what_is_not_there_is_not_found(tmp_path: Path):
    write_ledger(tmp_path)
    assert not find_rows(tmp_path, "c-0")
    assert not find_rows(tmp_path, 7 << 32)
    assert not find_rows(tmp_path, 4711)
    assert not find_rows(tmp_path, NO_MATCH)


def test_many_numbers_at_once(tmp_path: Path):
    write_ledger(tmp_path)
    wanted = {"a-0": 0, "a-4": 4, "b-2": number_of("b-2")}
    found = find_numbers(tmp_path, [*wanted.values(), 4711, 7 << 32, NO_MATCH])
    assert {row.id: number for number, row in found.items()} == wanted
    assert find_numbers(tmp_path, []) == {}


def test_one_id_may_be_of_several_documents(tmp_path: Path):
    row = Row(0, "same", "a", "a.txt", 0, 1, 1, "train")
    path = ledger_path(tmp_path, 0)
    path.parent.mkdir()
    with new_ledger(path, ()) as writer:
        writer.add(row)
        writer.add(replace(row, number=1, domain="b"))
    assert [found.domain for found in find_rows(tmp_path, "same")] == ["a", "b"]
    assert find_rows(tmp_path, 1)[0].values == ()


def test_what_is_no_unicode_is_a_question_mark():
    row = Row(0, "\ud800", "a", "a.txt", 0, 1, 1, "train", excerpt="x\udfffy")
    (plain,) = table_of([row], ()).to_pylist()
    assert (plain["id"], plain["excerpt"]) == ("?", "x?y")


def test_no_rows_are_a_table_too():
    table = table_of([], ("a.b",))
    assert table.schema.equals(schema_of(("a.b",)))
    assert not table.num_rows


def test_parts_are_in_the_order_of_their_shards(tmp_path: Path):
    (tmp_path / "ledger").mkdir()
    for shard in (2, 100_000, 99_999):
        ledger_path(tmp_path, shard).touch()
    assert list_ledger(tmp_path) == [ledger_path(tmp_path, shard) for shard in (2, 99_999, 100_000)]


def test_an_excerpt_is_the_beginning():
    assert excerpt_of("x" * 1000) == "x" * 240
    assert excerpt_of("") == ""


def test_damage_is_named(tmp_path: Path):
    with pytest.raises(MissingError, match="danlu corpus build"):
        list(read_ledger(tmp_path))
    write_ledger(tmp_path)
    path = ledger_path(tmp_path, 0)
    data = bytearray(path.read_bytes())
    data[200] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(DamagedError, match=r"part-00000\.parquet is damaged"):
        list(read_ledger(tmp_path))
    path.write_bytes(b"no parquet")
    with pytest.raises(DamagedError, match="again to build it anew"):
        find_rows(tmp_path, 0)
