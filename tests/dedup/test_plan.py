"""Plans, ranges, spans, and what a resolution refuses."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.dedup import records
from danlu.dedup.contract import Alive, read_outcome, resolve
from danlu.dedup.plan import (
    CUT,
    Plan,
    by_shard,
    find_dropped,
    hash_range,
    merge_cuts,
    number_range,
    read_plan,
    write_plan,
)
from danlu.dedup.settings import Boilerplate, Exact, MinHash, Substrings
from danlu.errors import DamagedError, MismatchError, MissingError
from danlu.rng import mix
from dedup_rounds import in_order, sign


@pytest.mark.parametrize(
    "settings", [Exact(unit="line"), MinHash(threshold=0.8), Substrings(), Boilerplate()]
)
def test_a_plan_is_read_as_it_was_written(tmp_path, settings):
    plan = Plan(settings, tmp_path, (), (), 3, (tmp_path / "before",))
    write_plan(plan)
    assert read_plan(str(tmp_path)) == plan


def test_slots_are_the_places_of_shards(tmp_path):
    plan = Plan(Exact(), tmp_path, (3, 5, 9), (4,), 1, ())
    assert plan.slot(np.array([5, 3, 9, 4, 10, 0])).tolist() == [1, 0, 2, -1, -1, -1]
    assert Plan(Exact(), tmp_path, (), (), 1, ()).slot(np.array([5])).tolist() == [-1]


@pytest.mark.parametrize("ranges", [1, 2, 3, 1000])
def test_ranges_are_even_and_in_bounds(ranges):
    numbers = (np.arange(20)[:, None] << 32 | np.arange(500)).ravel()
    keys = np.array([0, 2**64 - 1], np.uint64)
    assert hash_range(keys, ranges).tolist() == [0, ranges - 1]
    counts = np.bincount(number_range(numbers, ranges), minlength=ranges)
    assert len(counts) == ranges
    expected = len(numbers) / ranges
    assert np.abs(counts - expected).max() <= 6 * np.sqrt(expected) + 1


def test_document_numbers_are_scattered_by_the_finaliser_of_splitmix64():
    numbers = np.array([0, 1, 5 << 32 | 7, (1 << 62) + 3])
    assert number_range(numbers, 1000).tolist() == hash_range(mix(numbers.view(np.uint64)), 1000).tolist()


def test_documents_by_shard():
    numbers = np.array([1 << 32, 1 << 32 | 5, 7 << 32 | 1])
    assert list(by_shard(numbers)) == [(1, slice(0, 2)), (7, slice(2, 3))]
    assert list(by_shard(numbers[::-1])) == [(7, slice(0, 1)), (1, slice(1, 3))]
    assert list(by_shard(numbers[:0])) == []


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30), st.integers(1, 9)), max_size=12))
def test_merged_cuts_cover_the_same_and_lie_apart(spans):
    cuts = np.array([(index, start, start + length) for index, start, length in spans], CUT)
    merged = merge_cuts(cuts).tolist()
    covered = {(index, n) for index, start, end in cuts.tolist() for n in range(start, end)}
    assert {(index, n) for index, start, end in merged for n in range(start, end)} == covered
    assert sum(end - start for _, start, end in merged) == len(covered)
    assert merged == sorted(merged)
    assert all(one[0] != other[0] or one[2] < other[1] for one, other in pairwise(merged))


def test_who_was_dropped_is_known_by_index(tmp_path):
    texts = [str(number % 11) for number in range(30)]
    sign(Exact(), tmp_path, 3, texts, 2)
    with pytest.raises(MissingError, match="resolve the step"):
        find_dropped(tmp_path)
    resolve(Exact(), tmp_path, [3], 2, Alive(), in_order)
    index = np.array([29, 0, 11, 10, 11], np.uint32)
    assert find_dropped(tmp_path).of(3, index).tolist() == [True, False, True, False, True]
    assert find_dropped(tmp_path).of(3, index[:0]).shape == (0,)
    sign(Exact(), tmp_path, 3, texts[:11] * 2, 2)
    resolve(Exact(), tmp_path, [3], 2, Alive(), in_order)
    assert find_dropped(tmp_path).of(3, np.arange(22)).tolist() == [False] * 11 + [True] * 11


def test_an_earlier_outcome_is_read_once_a_shard(deduplicate, tmp_path, monkeypatch):
    shards = [[f"{word} one two three four five {letter}" for letter in "abcdefghab"] for word in "xyz"]
    first = deduplicate(Exact(), shards).work
    later = tmp_path / "later"
    for shard, texts in enumerate(shards):
        sign(MinHash(bands=7, rows=2), later, shard, texts, 4)
    opened = Counter()
    whole = records._open_whole

    def open_whole(path, dtype):
        opened.update([path.relative_to(first)] if path.is_relative_to(first) else [])
        return whole(path, dtype)

    monkeypatch.setattr(records, "_open_whole", open_whole)
    resolve(MinHash(bands=7, rows=2), later, [0, 1, 2], 4, Alive((first,)), in_order)
    # 7 bands of 4 ranges ask for each of 3 shards: up to 252 files where every one of them asks the disk.
    drops = {Path(f"outcome/{shard:08d}.drops"): 1 for shard in range(3)}
    assert opened == drops | {Path(f"signed/{shard:08d}.documents"): 1 for shard in range(3)}


def test_shards_signed_otherwise_are_refused(tmp_path):
    sign(Exact(), tmp_path, 0, ["a"], 2)
    sign(Exact(ignore_white_space=False), tmp_path, 1, ["a"], 2)
    with pytest.raises(MismatchError, match="shard 1 was signed with other settings"):
        resolve(Exact(), tmp_path, [0, 1], 2, Alive(), in_order)
    with pytest.raises(MismatchError, match="shard 0"):
        resolve(Exact(), tmp_path, [0], 3, Alive(), in_order)
    with pytest.raises(MissingError, match=r"00000002\.json does not exist"):
        resolve(Exact(), tmp_path, [2], 2, Alive(), in_order)


def test_another_plan_starts_over(tmp_path):
    for shard in range(3):
        sign(Exact(), tmp_path, shard, ["a", "b"], 2)
    resolve(Exact(), tmp_path, [1, 2], 2, Alive(), in_order)
    assert read_outcome(tmp_path, 2).match.tolist() == [1 << 32, 1 << 32 | 1]
    resolve(Exact(), tmp_path, [2], 2, Alive(), in_order)
    assert read_outcome(tmp_path, 2).match.tolist() == [-1, -1]
    with pytest.raises(MissingError, match="resolve the step"):
        read_outcome(tmp_path, 1)
    resolve(Exact(), tmp_path, [0, 2], 2, Alive(), in_order)
    assert read_outcome(tmp_path, 2).match.tolist() == [0, 1]


def test_signing_again_voids_what_was_resolved(tmp_path):
    sign(Exact(), tmp_path, 0, ["a", "a"], 2)
    resolve(Exact(), tmp_path, [0], 2, Alive(), in_order)
    assert read_outcome(tmp_path, 0).dropped.tolist() == [False, True]
    sign(Exact(), tmp_path, 0, ["a", "b", "b"], 2)
    resolve(Exact(), tmp_path, [0], 2, Alive(), in_order)
    assert read_outcome(tmp_path, 0).dropped.tolist() == [False, False, True]


def test_the_order_in_which_shards_are_named_does_not_matter(tmp_path):
    for shard in range(3):
        sign(Exact(), tmp_path, shard, ["a"], 1)
    resolve(Exact(), tmp_path, [2, 0, 1], 1, Alive(), in_order)
    assert [bool(read_outcome(tmp_path, shard).dropped[0]) for shard in range(3)] == [False, True, True]
    with pytest.raises(ValueError, match=r"shards \[1\] are of this corpus and of an earlier one"):
        resolve(Exact(), tmp_path, [0, 1], 1, Alive(), in_order, [1])


def test_a_torn_signature_is_named(tmp_path):
    sign(MinHash(), tmp_path, 0, ["one two three four five six"], 2)
    path = tmp_path / "signed" / "00000000.records"
    path.write_bytes(path.read_bytes()[:-5])
    advice = "remove the work directory that it lies in"
    with pytest.raises(DamagedError, match=rf"00000000\.records .*{advice}"):
        resolve(MinHash(), tmp_path, [0], 2, Alive(), in_order)
    (tmp_path / "signed" / "00000000.json").write_text("{")
    with pytest.raises(DamagedError, match=rf"00000000\.json .*{advice}"):
        resolve(MinHash(), tmp_path, [0], 2, Alive(), in_order)


def test_no_shards_is_no_work(tmp_path):
    for settings in (Exact(), MinHash(), Substrings(), Boilerplate()):
        resolve(settings, tmp_path / settings.use, [], 2, Alive(), in_order)
