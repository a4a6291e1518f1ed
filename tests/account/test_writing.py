"""Ledger files are written as documents come, and those of several rounds are merged in the order of reading."""

import random

import pytest

from danlu.account import writing
from danlu.account.ledger import Row, ledger_path, list_measures, read_ledger
from danlu.account.writing import merge_ledgers, new_ledger
from danlu.errors import DanluError


def row(number, **more):
    return Row(number, f"id{number}", "prose", "a.txt", 0, 9, 9, "train", values=(float(number), 0.5), **more)


def write(path, rows, measures=("length.characters", "b.share")):
    with new_ledger(path, measures) as writer:
        for one in rows:
            writer.add(one)
    return path


@pytest.mark.parametrize("group_rows", [1, 3, 64])
@pytest.mark.parametrize("documents", [0, 1, 20])
def test_rounds_are_merged_by_number(tmp_path, monkeypatch, group_rows, documents):
    monkeypatch.setattr(writing, "GROUP_ROWS", group_rows)
    generator = random.Random(documents)
    rounds = [[], [], []]
    for index in range(documents):
        rounds[generator.randrange(3)].append(row(5 << 32 | index))
    paths = [write(tmp_path / f"{n}.parquet", rows) for n, rows in enumerate(rounds)]
    merge_ledgers(paths, ledger_path(tmp_path, 5), documents)
    batches = list(read_ledger(tmp_path))
    numbers = [number for batch in batches for number in batch["number"].to_pylist()]
    assert numbers == [5 << 32 | index for index in range(documents)]
    assert [v for batch in batches for v in batch["length.characters"].to_pylist()] == list(
        map(float, numbers)
    )
    assert list_measures(tmp_path) == ("length.characters", "b.share")


def test_a_row_of_other_measures_is_refused_and_leaves_no_file(tmp_path):
    with pytest.raises(ValueError, match="2 values for 1 measures"):
        write(tmp_path / "a.parquet", [row(1)], ["length.characters"])
    assert not (tmp_path / "a.parquet").exists()


def test_a_folder_that_is_not_there_is_an_error_of_the_disk(tmp_path):
    with pytest.raises((DanluError, OSError)):
        write(tmp_path / "none" / "a.parquet", [])
