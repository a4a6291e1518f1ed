"""A shard holds what was written, says of which tokenizer, and refuses ids that cannot be right."""

import errno
from types import SimpleNamespace

import numpy as np
import pytest

import house
from danlu.errors import DamagedError, DanluError, MismatchError
from danlu.records import Document
from danlu.rng import hash_text
from danlu.shards.shard import (
    FORMAT,
    READABLE,
    ShardHeader,
    new_shard,
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


GOLDEN = house.ROOT / "tests" / "golden"


@pytest.mark.parametrize("form", READABLE)
def test_a_shard_of_every_format_is_read(form):
    path = GOLDEN / f"tokens_v{form.removeprefix('danlu.tokens/')}.safetensors"
    verify_shard(path)
    assert read_header(path) == ShardHeader(
        "prose", "b" * 64, 300, 0, 1, "c" * 64, checksum="d44d44ec667d1a7e63093d17a8eface6"
    )
    shard = open_shard(path)
    assert shard.ids.dtype == np.uint16
    assert shard.ids.tolist() == [0, 299, 1, 0, 1, 0, 97, 98, 99, 1]
    assert shard.offsets.tolist() == [0, 3, 5, 10]
    assert shard.byte_counts.tolist() == [3, 0, 3]
    assert shard.id_hashes.tolist() == [hash_text(name) for name in ("one", "two", "three")]
    table = read_provenance(path)
    assert table.column("id").to_pylist() == ["one", "two", "three"]
    assert table.column("source").to_pylist() == ["a.txt", "b.txt", "b.txt"]
    assert [table.column(name).to_pylist() for name in ("start", "end")] == [[3, 0, 7], [6, 0, 10]]


def test_no_format_is_forgotten():
    """A format that is written has its file, and what was written once can be read."""
    numbers = {int(path.stem.removeprefix("tokens_v")) for path in GOLDEN.glob("tokens_v*.safetensors")}
    assert {f"danlu.tokens/{number}" for number in numbers} == set(READABLE)
    assert f"danlu.tokens/{max(numbers)}" == FORMAT


def test_a_shard_in_pieces_has_the_same_bytes(path, tmp_path):
    other = tmp_path / "other.safetensors"
    with new_shard(other, HEADER) as shard:
        shard.add([], [])
        for document, ids in zip(DOCUMENTS, IDS, strict=True):
            shard.add([document], [ids], [len(document.text.encode())])
        assert not other.exists()
    assert other.read_bytes() == path.read_bytes()
    assert provenance_path(other).read_bytes() == provenance_path(path).read_bytes()


def test_no_document_at_all(tmp_path):
    path = tmp_path / "s.safetensors"
    write_shard(path, HEADER, [], [])
    assert (open_shard(path).offsets.tolist(), len(open_shard(path).ids)) == ([0], 0)
    assert read_provenance(path).num_rows == 0


def test_an_error_in_the_midst_leaves_nothing(tmp_path):
    def write(wrong):
        with new_shard(tmp_path / "s.safetensors", HEADER) as shard:
            shard.add(DOCUMENTS, IDS)
            shard.add(DOCUMENTS, wrong)

    with pytest.raises(MismatchError):
        write([IDS[0], np.array([5], dtype=np.uint32)])
    assert not list(tmp_path.iterdir())
