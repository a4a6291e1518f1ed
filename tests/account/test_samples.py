"""Samples depend on the ids alone, are complete where there are few, and show kept texts as they are kept."""

import random
from pathlib import Path

import pytest

from danlu.account.samples import (
    Choice,
    Sample,
    excerpts_of,
    kept_texts,
    sample_by_reason,
    with_kept_texts,
)
from danlu.errors import DamagedError
from danlu.read.store import part_path, write_part
from danlu.records import Document
from danlu.rng import hash_text
from small_ledger import REASONS, TEXTS, number_of, row_of, write_small_corpus


def test_all_of_few(tmp_path: Path):
    write_small_corpus(tmp_path)
    samples = sample_by_reason(tmp_path)
    assert {reason: {sample.id for sample in found} for reason, found in samples.items()} == {
        reason: {ident for ident in REASONS if REASONS[ident] == reason} for reason in set(REASONS.values())
    }
    texts = dict(TEXTS)
    assert all(sample.excerpt == texts[sample.id] for found in samples.values() for sample in found)


def test_some_of_many(tmp_path: Path):
    write_small_corpus(tmp_path)
    kept = [ident for ident in REASONS if not REASONS[ident]]
    first = sorted(kept, key=lambda ident: hash_text(f"{ident[0]}/{ident}"))[:2]
    assert [sample.id for sample in sample_by_reason(tmp_path, 2)[""]] == first


@pytest.mark.parametrize("count", [1, 3, 50])
def test_a_choice_is_the_lowest_hashes_in_any_order(count: int):
    keys = [f"key {number}" for number in range(40)]
    expected = sorted(keys, key=hash_text)[:count]
    for seed in range(3):
        random.Random(seed).shuffle(keys)
        choice: Choice[str] = Choice(count)
        for number, key in enumerate(keys):
            rank = choice.wants("g", key)
            if rank is not None:
                choice.add("g", rank, number, key)
        assert choice.chosen() == {"g": expected}


def test_equal_keys_are_ordered_by_number():
    choice: Choice[int] = Choice(2)
    for number in (3, 1, 2):
        rank = choice.wants("g", "same")
        if rank is not None:
            choice.add("g", rank, number, number)
    assert choice.chosen() == {"g": [1, 3]}


def test_a_dropped_text_is_not_looked_up(tmp_path: Path):
    sample = Sample(1, "a-0", "a", "a.txt", "", "", "train", "id.repeated", -1, "")
    assert with_kept_texts(tmp_path, [sample]) == [sample]


def test_the_beginnings_of_rows(tmp_path: Path):
    write_small_corpus(tmp_path)
    rows = [row_of(*item) for item in TEXTS]
    assert excerpts_of(tmp_path, rows) == {number_of(ident): text for ident, text in TEXTS}


def test_kept_texts_are_whole_and_only_those_wanted(tmp_path: Path):
    long = [Document(f"d{place}", f"text {place} " * 90, "a.txt", "a", f"d{place}") for place in range(30)]
    write_part(part_path(tmp_path, "train", "a", 0), long[:20])
    write_part(part_path(tmp_path, "train", "a", 1), long[20:])
    found = dict(kept_texts(tmp_path, "train", "a", {"d3", "d25", "gone"}))
    assert found == {"d3": long[3].text, "d25": long[25].text}
    assert list(kept_texts(tmp_path, "train", "a", [])) == []
    # What was found in one part is not looked for in the next.
    part_path(tmp_path, "train", "a", 1).write_bytes(b"nothing")
    assert dict(kept_texts(tmp_path, "train", "a", {"d3"})) == {"d3": long[3].text}


def test_a_damaged_part_is_named(tmp_path: Path):
    write_small_corpus(tmp_path)
    part_path(tmp_path, "train", "a", 0).write_bytes(b"nothing")
    with pytest.raises(DamagedError, match="part-00000"):
        sample_by_reason(tmp_path)
