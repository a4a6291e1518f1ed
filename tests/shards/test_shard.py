"""A shard holds what was written, says of which tokenizer, and refuses ids that cannot be right."""

import errno
from types import SimpleNamespace

import numpy as np
import pytest

from danlu.errors import DamagedError, DanluError, MismatchError
from danlu.records import Document
from danlu.rng import hash_text
from danlu.shards.shard import (
    ShardHeader,
    open_shard,
    provenance_path,
    read_header,
    read_provenance,
    require_tokenizer,
    verify_shard,
    write_shard,
)

HEADER = ShardHeader("prose", "b" * 64, 70_000, 0, 1, "inputs")
DOCUMENTS = [
    Document("one", "好", "a.txt", "prose", "a.txt", 3, 6),
    Document("two", "", "b.txt", "prose", "b.txt", 0, 0),
]
IDS = [np.array([0, 69_999, 1], dtype=np.uint32), np.array([0, 1], dtype=np.uint32)]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "prose" / "shard-00000.safetensors"
    write_shard(path, HEADER, DOCUMENTS, IDS)
    return path


def test_round_trip(path):
    shard = open_shard(path)
    assert shard.ids.tolist() == [0, 69_999, 1, 0, 1]
    assert shard.ids.dtype == np.uint32
    assert shard.offsets.tolist() == [0, 3, 5]
    assert shard.byte_counts.tolist() == [3, 0]
    assert shard.id_hashes.tolist() == [hash_text("one"), hash_text("two")]
    assert read_provenance(path).to_pylist()[0] == {
        "id": "one",
        "source": "a.txt",
        "start": 3,
        "end": 6,
        "group": "a.txt",
    }
    found = read_header(path)
    assert (found.domain, found.vocab_size, found.bos_id, found.eos_id) == ("prose", 70_000, 0, 1)


@pytest.mark.parametrize(("vocab_size", "dtype"), [(65_536, np.uint16), (65_537, np.uint32)])
def test_smallest_type(tmp_path, vocab_size, dtype):
    path = tmp_path / "s.safetensors"
    header = ShardHeader("prose", "b", vocab_size, 0, 1, "")
    write_shard(path, header, DOCUMENTS[:1], [np.array([0, vocab_size - 1, 1], dtype=np.uint32)])
    assert open_shard(path).ids.dtype == dtype
    assert int(open_shard(path).ids[1]) == vocab_size - 1


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ([5, 1], "does not start with BOS"),
        ([0, 5], "end with EOS"),
        ([0], "without BOS and EOS"),
        ([0, 70_000, 1], "70000 is not below"),
    ],
)
def test_asserted_on_write(tmp_path, ids, said):
    with pytest.raises(MismatchError, match=said):
        write_shard(tmp_path / "s.safetensors", HEADER, DOCUMENTS[:1], [np.array(ids, dtype=np.uint32)])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("failing_call", [1, 2, 3, 4])
def test_full_disk_leaves_nothing_half_written(tmp_path, monkeypatch, failing_call):
    calls = []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) == failing_call:
            raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr("os.fsync", full)
    path = tmp_path / "shard-00000.safetensors"
    with pytest.raises(DanluError, match="free some space"):
        write_shard(path, HEADER, DOCUMENTS, IDS)
    assert not [file for file in tmp_path.iterdir() if file.name.startswith(".tmp")]
    if path.exists():
        verify_shard(path)
        assert read_provenance(path).num_rows == 2


def test_changed_on_disk_is_named(path):
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedError, match=r"shard-00000.safetensors.*checksum"):
        verify_shard(path)


def codec(sha256, vocab_size):
    return SimpleNamespace(sha256=sha256, vocab_size=vocab_size, bos_id=0, eos_id=1)


def test_other_tokenizer(path):
    require_tokenizer(path, read_header(path), codec("b" * 64, 70_000))
    with pytest.raises(MismatchError, match="another tokenizer"):
        require_tokenizer(path, read_header(path), codec("c" * 64, 70_000))
    with pytest.raises(MismatchError, match="vocabulary size 70000 where the run's has 300"):
        require_tokenizer(path, read_header(path), codec("b" * 64, 300))


def test_other_format(path):
    path.write_bytes(path.read_bytes().replace(b"danlu.tokens/1", b"danlu.tokens/9"))
    with pytest.raises(DamagedError, match="format"):
        open_shard(path)


def test_damaged_provenance(path):
    provenance_path(path).write_bytes(b"PAR1")
    with pytest.raises(DamagedError, match=r"documents\.parquet"):
        read_provenance(path)
