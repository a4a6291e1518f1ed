"""Groups hold every document, the stored index is rebuilt exactly when it must be, changed shards are named."""

import itertools

import numpy as np
import pytest

from danlu.errors import DamagedError, InputError
from danlu.shards.documents import open_documents
from danlu.tokens import index as module
from danlu.tokens.index import (
    Cutting,
    build_index,
    group_bounds,
    load_index,
    whole_documents,
)
from danlu.tokens.packing import KINDS

LENGTHS = np.random.default_rng(5).integers(2, 50, 300)


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr(module, "GROUP_TOKENS", 500)
    monkeypatch.setattr(module, "GROUP_SAMPLES", 4)


@pytest.mark.parametrize("kind", KINDS)
def test_every_token_once_over_all_groups(kind):
    index = build_index("prose", whole_documents(LENGTHS), Cutting(16, kind))
    packing = index.packing
    assert len(index.group_offsets) > 10
    assert index.group_offsets[-1] == packing.samples == len(packing.offsets) - 1
    assert packing.offsets[-1] == len(packing.documents)
    seen = np.concatenate(
        [
            d * 1000 + np.arange(s, s + n)
            for d, s, n in zip(packing.documents, packing.starts, packing.lengths, strict=True)
        ]
    )
    assert len(seen) == len(np.unique(seen)) == LENGTHS.sum()
    assert np.add.reduceat(packing.lengths, packing.offsets[:-1]).max() <= 16
    assert index.mean_filled == pytest.approx(LENGTHS.sum() / packing.samples)
    assert index.stats.dropped == 0


def test_a_group_has_its_own_documents():
    index = build_index("prose", whole_documents(LENGTHS), Cutting(16, "best_fit"))
    bounds = group_bounds(LENGTHS, 16)
    for g, (first, stop) in enumerate(itertools.pairwise(bounds)):
        pieces = slice(*index.packing.offsets[index.group_offsets[g : g + 2]])
        assert set(index.packing.documents[pieces].tolist()) == set(range(first, stop))


def test_groups_are_even_and_never_empty():
    sizes = np.add.reduceat(LENGTHS, group_bounds(LENGTHS, 16)[:-1])
    assert sizes.min() > 400
    assert group_bounds(np.array([10_000, 3, 9000]), 16).tolist() == [0, 1, 2, 3]
    assert group_bounds(np.array([2]), 16).tolist() == [0, 1]


def test_shorter_than_one_sample(tmp_path, write_domain):
    directory = write_domain(tmp_path, "prose", [4, 5])
    with pytest.raises(
        InputError, match=r"'prose' has 9 training tokens.*train\.sequence_length = 16.*at most 9"
    ):
        load(directory)


@pytest.mark.parametrize("kind", KINDS)
def test_in_another_order(directory, kind):
    """Groups follow the order; every document is there under its own number."""
    documents = open_documents(directory)
    ranks = np.argsort(documents.lengths, kind="stable")
    cutting = Cutting(16, kind, "tokens")
    index = load_index(directory.parent, documents, cutting, ranks)
    np.testing.assert_array_equal(
        np.bincount(index.packing.documents, weights=index.packing.lengths), documents.lengths
    )
    largest = [
        documents.lengths[index.packing.documents[slice(*index.packing.offsets[[first, stop]])]].max()
        for first, stop in itertools.pairwise(index.group_offsets)
    ]
    assert largest == sorted(largest)
    other = load_index(directory.parent, documents, cutting, ranks[::-1].copy())
    assert not np.array_equal(other.packing.documents, index.packing.documents)
    assert index.stats.tokens == other.stats.tokens == load(directory).stats.tokens


@pytest.fixture
def directory(tmp_path, write_domain):
    return write_domain(tmp_path, "prose", LENGTHS.tolist(), shards=3)


def load(directory, length=16):
    return load_index(directory.parent, open_documents(directory), Cutting(length, "best_fit"))


def test_stored_and_read_again(directory, monkeypatch):
    built = load(directory)
    monkeypatch.setattr(module, "build_index", None)
    again = load(directory)
    for name in ("documents", "starts", "lengths", "offsets"):
        np.testing.assert_array_equal(getattr(again.packing, name), getattr(built.packing, name))
    np.testing.assert_array_equal(again.group_offsets, built.group_offsets)
    assert again.stats == built.stats


def test_damaged_index_is_built_again(directory):
    built = load(directory)
    path = directory / "index-16-best_fit.safetensors"
    good = path.read_bytes()
    for bad in (b"", good[:100], good[:-8] + b"\1" * 8):
        path.write_bytes(bad)
        assert load(directory).stats == built.stats
        assert path.read_bytes() == good


def test_stale_index_is_built_again(directory, tmp_path, write_domain):
    load(directory)
    write_domain(tmp_path, "prose", (LENGTHS + 1).tolist(), shards=3)
    assert load(directory).stats.tokens == LENGTHS.sum() + len(LENGTHS)


def test_shard_that_changed_on_disk_is_named(directory):
    load(directory)
    shard = directory / "shard-00001.safetensors"
    data = bytearray(shard.read_bytes())
    data[-2] ^= 1
    shard.write_bytes(data)
    with pytest.raises(DamagedError, match=r"shard-00001\.safetensors.*checksum"):
        load(directory)


def test_lengths_do_not_share_an_index(directory):
    assert load(directory, 16).packing.samples != load(directory, 32).packing.samples
    assert len(list(directory.glob("index-*"))) == 2
