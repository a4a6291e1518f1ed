"""Files of records by group: order, spills, and what is refused."""

import tracemalloc

import numpy as np
import pytest

from danlu.dedup import records
from danlu.dedup.records import RecordWriter, count_records, read_group, read_rows, write_records
from danlu.errors import DamagedError, MissingError

KIND = np.dtype([("key", "<u8"), ("index", "<u4")])


def some(count, seed=0):
    generator = np.random.default_rng(seed)
    made = np.empty(count, KIND)
    made["key"] = generator.integers(0, 2**63, count, dtype=np.uint64)
    made["index"] = np.arange(count)
    return made


@pytest.mark.parametrize("groups", [1, 3, 70_000])
@pytest.mark.parametrize("spill_bytes", [1, 500, 1 << 20])
def test_groups_come_back_in_the_order_of_adding(tmp_path, monkeypatch, groups, spill_bytes):
    monkeypatch.setattr(records, "SPILL_BYTES", spill_bytes)
    made = some(200)
    group = np.random.default_rng(1).integers(0, groups, 200)
    group[-1] = groups - 1
    writer = RecordWriter(tmp_path / "deep" / "x.records", KIND, groups)
    for start in range(0, 200, 7):
        writer.add(made[start : start + 7], group[start : start + 7])
    writer.close()
    for number in {0, groups - 1, *group.tolist()}:
        assert (read_group(tmp_path / "deep" / "x.records", KIND, number) == made[group == number]).all()
    assert count_records(tmp_path / "deep" / "x.records", KIND) == 200


def test_the_writer_takes_the_memory_that_it_says(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "SPILL_BYTES", 1 << 18)
    writer = RecordWriter(tmp_path / "x", KIND, 9)
    tracemalloc.start()
    for start in range(25_000):
        # Arrays of their own, as signers make them for each document.
        writer.add(some(1, start), np.array([start % 9]))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    writer.close()
    # Sorting a segment takes thrice the buffer; the offsets come to it.
    assert peak < 3 * (1 << 18) + (1 << 16)
    assert count_records(tmp_path / "x", KIND) == 25_000


def test_nothing_is_a_file_too(tmp_path):
    RecordWriter(tmp_path / "x", KIND, 5).close()
    assert read_group(tmp_path / "x", KIND, 4).shape == (0,)
    assert read_rows(tmp_path / "x", KIND, np.empty(0, np.int64)).shape == (0,)


def test_rows_are_read_by_place(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "SPILL_BYTES", 100)
    made = some(50)
    write_records(tmp_path / "x", made, np.zeros(50, np.int64), 1)
    rows = np.array([49, 0, 0, 7])
    assert (read_rows(tmp_path / "x", KIND, rows) == made[rows]).all()


def test_a_file_that_is_not_whole_is_refused_by_name(tmp_path):
    path = tmp_path / "x.records"
    write_records(path, some(50), np.zeros(50, np.int64), 2)
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:-12], whole + b"x", whole[:10], b"", whole[12:]):
        path.write_bytes(damaged)
        with pytest.raises(DamagedError, match=r"x\.records"):
            read_group(path, KIND, 0)
    path.write_bytes(whole)
    with pytest.raises(DamagedError, match="not a whole file"):
        read_group(path, np.dtype([("key", "<u8")]), 0)
    with pytest.raises(DamagedError, match="no group 2"):
        read_group(path, KIND, 2)
    path.unlink()
    with pytest.raises(MissingError, match="was not run"):
        read_group(path, KIND, 0)


def test_the_writer_refuses_what_does_not_fit(tmp_path):
    writer = RecordWriter(tmp_path / "x", KIND, 2)
    with pytest.raises(ValueError, match="for 2 groups"):
        writer.add(some(3), np.zeros(2, np.int64))
    writer.add(some(1), np.array([2]))
    with pytest.raises(ValueError, match="group 2 of 2"):
        writer.close()
    assert not (tmp_path / "x").exists()
