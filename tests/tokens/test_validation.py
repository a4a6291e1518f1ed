"""Every validation token once, in a fixed order, each document alone."""

import numpy as np
import pytest

from danlu.errors import DamagedError
from danlu.records import IGNORE_INDEX
from danlu.shards.documents import open_documents
from danlu.tokens.validation import validation_batches

LENGTHS = np.random.default_rng(3).integers(2, 60, 40).tolist()


def prose(root):
    return open_documents(root / "validation" / "prose")


@pytest.fixture
def root(tmp_path, write_domain):
    write_domain(tmp_path, "prose", LENGTHS, split="validation", shards=2)
    return tmp_path


def test_every_token_once(root):
    batches = list(validation_batches(prose(root), 16, None, 4, 2))
    assert all(batch.inputs.shape == (4, 16) for batch in batches[:-1])
    seen = [
        (p.document, place)
        for batch in batches
        for sample in batch.samples
        for p in sample.pieces
        for place in range(p.start, p.start + p.length)
    ]
    assert len(seen) == len(set(seen)) == sum(LENGTHS)
    assert sum(batch.target_tokens for batch in batches) == sum(LENGTHS) - len(LENGTHS)
    numbers = [sample.number for batch in batches for sample in batch.samples]
    assert numbers == list(range(len(numbers)))


@pytest.mark.parametrize(("limit", "rows"), [(1, 1), (15, 1), (16, 1), (100, 6), (10**9, None)])
def test_a_bound_takes_whole_samples_from_all_documents(root, limit, rows):
    documents = prose(root)
    whole = [s.pieces for b in validation_batches(prose(root), 16, None, 4, 2) for s in b.samples]
    some = [s for b in validation_batches(prose(root), 16, limit, 4, 2) for s in b.samples]
    assert len(some) == (rows or len(whole))
    places = [whole.index(sample.pieces) for sample in some]
    assert places == sorted(set(places))
    assert rows is None or rows < 6 or places != list(range(rows)), "not just the first ones"
    for sample in some:
        column = 0
        for p in sample.pieces:
            column += p.length
            following = documents.tokens_of(p.document, p.start + p.length, p.start + p.length + 1)
            assert sample.labels[column - 1] == (following[0] if len(following) else IGNORE_INDEX)


def test_changed_shard_is_named(root):
    shard = root / "validation" / "prose" / "shard-00000.safetensors"
    data = bytearray(shard.read_bytes())
    data[-1] ^= 1
    shard.write_bytes(data)
    with pytest.raises(DamagedError, match="shard-00000"):
        next(validation_batches(prose(root), 16, None, 4, 2))


def test_batch_size_changes_nothing_but_the_shape(root):
    def rows(batch_sequences):
        return np.concatenate(
            [b.labels for b in validation_batches(prose(root), 16, None, batch_sequences, 2)]
        )

    np.testing.assert_array_equal(rows(1), rows(64))
