"""Sorting on disk: the same rows in the same order whatever the memory; groups stay whole."""

import itertools

import numpy as np
import pytest

from danlu.lm.count import add_counts
from danlu.lm.runs import Sorter, find_rows, group_heads, read_rows, sort_rows, whole_groups, write_rows


def rows_of(count, width=3, most=9, seed=0):
    return np.random.default_rng(seed).integers(0, most, (count, width), dtype=np.uint32)


def slow(rows, columns):
    return sorted(rows.tolist(), key=lambda row: [row[column] for column in columns])


@pytest.mark.parametrize("count", [0, 1, 2, 63, 1000])
@pytest.mark.parametrize("most", [2, 5000, 2**32])
@pytest.mark.parametrize("columns", [(0, 1, 2), (2, 1, 0), (1,)])
def test_rows_are_sorted(count, most, columns):
    rows = rows_of(count, most=most)
    assert sort_rows(rows, columns).tolist() == slow(rows, columns)


@pytest.mark.parametrize("memory", [1, 2000, 20_000, 10**7])
@pytest.mark.parametrize("group", [1, 2, 3])
def test_any_memory_gives_the_same_rows_in_whole_groups(tmp_path, memory, group):
    rows = rows_of(3000)
    sorter = Sorter(tmp_path, 3, (2, 0, 1), memory)
    for part in np.array_split(rows, 7):
        sorter.add(part)
    assert (len(sorter.runs) > 1) == (memory < 10**5)
    blocks = list(sorter.blocks(group))
    assert np.concatenate(blocks).tolist() == slow(rows, (2, 0, 1))
    groups = [{tuple(row) for row in block[:, [2, 0, 1][:group]].tolist()} for block in blocks]
    assert len(set().union(*groups)) == sum(map(len, groups))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("memory", [1, 10**6])
def test_equal_rows_are_added_up(tmp_path, memory):
    rows = np.column_stack([rows_of(5000, 2, most=4), np.ones(5000, np.uint32)])
    sorter = Sorter(tmp_path, 3, (1, 0), memory, add_counts)
    sorter.add(rows)
    found = np.concatenate(list(sorter.blocks(2)))
    assert len(found) == 16
    assert found[:, 2].sum() == 5000
    # What equal rows leave over stays in memory.
    assert not sorter.runs or memory == 1


def test_nothing_gives_nothing(tmp_path):
    assert not list(Sorter(tmp_path, 3, (0,), 100).blocks(1))
    assert not list(whole_groups([], (0,)))


def test_counts_that_are_too_large_stay_the_largest():
    rows = np.array([[1, 2**32 - 2], [1, 5]], np.uint32)
    assert add_counts(rows).tolist() == [[1, 2**32 - 1]]


def test_blocks_are_cut_at_groups(tmp_path):
    rows = sort_rows(rows_of(500), (0, 1, 2))
    path = write_rows(tmp_path / "rows", [rows])
    blocks = list(whole_groups(read_rows(path, 3, 17), (0, 1)))
    assert np.concatenate(blocks).tolist() == rows.tolist()
    for one, other in itertools.pairwise(blocks):
        assert one[-1, :2].tolist() != other[0, :2].tolist()
    assert len(blocks) > 5


def test_heads_of_groups():
    rows = np.array([[1, 1], [1, 1], [1, 2], [2, 2]], np.uint32)
    assert group_heads(rows, (0, 1)).tolist() == [0, 2, 3]
    assert group_heads(rows, (0,)).tolist() == [0, 3]
    assert group_heads(rows[:0], (0,)).tolist() == []


def test_rows_are_found():
    rows = np.unique(rows_of(60, 2), axis=0)
    wanted = sort_rows(rows_of(100, 3), (1, 2))
    found, before = find_rows(rows, (0, 1), wanted, (1, 2))
    known = rows.tolist()
    assert found.tolist() == [known.index(row) if row in known else -1 for row in wanted[:, 1:].tolist()]
    assert all(row < wanted[-1, 1:].tolist() for row in known[:before])
    assert all(row >= wanted[-1, 1:].tolist() for row in known[before:])
