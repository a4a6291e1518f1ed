"""A pair holds what the shards hold, in the published layout byte for byte; damaged and foreign pairs are named."""

import errno
import itertools
import json
import os
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from danlu.errors import DamagedError, DanluError, InputError, MismatchError, MissingError
from danlu.shards import megatron as module
from danlu.shards.documents import open_documents
from danlu.shards.megatron import (
    MAGIC,
    beside,
    check_documents,
    export_pairs,
    map_pair,
    open_pair,
    write_pair,
)
from danlu.shards.shard import read_provenance

index = module._index
INTEGERS = {1: "<u1", 2: "<i1", 3: "<i2", 4: "<i4", 5: "<i8", 8: "<u2"}


def as_arrays(sequences, kind="<u2"):
    """Ids and lengths as `write_pair` takes them."""
    ids = [np.asarray(sequence, dtype=kind) for sequence in sequences]
    return np.concatenate([np.zeros(0, kind), *ids]), np.array([len(each) for each in ids], dtype=np.int64)


def read_by_layout(prefix):
    """The documents of a pair, field by field as the layout says."""
    index, data = beside(prefix, "idx").read_bytes(), beside(prefix, "bin").read_bytes()
    assert index[:9] == b"MMIDIDX\0\0"
    (version,), (code,) = struct.unpack("<Q", index[9:17]), struct.unpack("<B", index[17:18])
    assert version == 1
    (sequences,), (bounds,) = struct.unpack("<Q", index[18:26]), struct.unpack("<Q", index[26:34])
    lengths = struct.unpack_from(f"<{sequences}i", index, 34)
    pointers = struct.unpack_from(f"<{sequences}q", index, 34 + 4 * sequences)
    documents = struct.unpack_from(f"<{bounds}q", index, 34 + 12 * sequences)
    assert len(index) == 34 + 12 * sequences + 8 * bounds
    kind = np.dtype(INTEGERS[code])
    found = [np.frombuffer(data, kind, n, at).tolist() for n, at in zip(lengths, pointers, strict=True)]
    return [list(itertools.chain(*found[a:b])) for a, b in itertools.pairwise(documents)]


def write_by_layout(prefix, documents, code=4, pointers=None, modes=False, version=1):
    """A pair whose documents are lists of sequences."""
    sequences = [sequence for document in documents for sequence in document]
    kind = np.dtype(INTEGERS.get(code, "<f4"))
    lengths = [len(sequence) for sequence in sequences]
    starts = pointers or [sum(lengths[:i]) * kind.itemsize for i in range(len(lengths))]
    bounds = [sum(map(len, documents[:i])) for i in range(len(documents) + 1)]
    index = MAGIC + struct.pack("<QBQQ", version, code, len(sequences), len(bounds))
    index += struct.pack(f"<{len(lengths)}i", *lengths) + struct.pack(f"<{len(starts)}q", *starts)
    index += struct.pack(f"<{len(bounds)}q", *bounds) + bytes(len(sequences) if modes else 0)
    beside(prefix, "idx").write_bytes(index)
    beside(prefix, "bin").write_bytes(b"".join(np.array(each, kind).tobytes() for each in sequences))
    return prefix


def test_the_bytes_are_the_published_layout(tmp_path):
    assert write_pair(tmp_path / "a", 300, [as_arrays([[0, 7, 1]]), as_arrays([[0, 1]])]) == (2, 5)
    assert beside(tmp_path / "a", "bin").read_bytes().hex() == "00000700010000000100"
    assert beside(tmp_path / "a", "idx").read_bytes().hex() == (
        "4d4d494449445800000100000000000000080200000000000000" "0300000000000000"
        "03000000" "02000000" "0000000000000000" "0600000000000000"
        "0000000000000000" "0100000000000000" "0200000000000000"
    )  # fmt: skip


@pytest.mark.parametrize(("vocab", "code"), [(65_499, 8), (65_500, 4), (65_536, 4), (200_000, 4)])
def test_ids_have_the_type_that_megatron_chooses(tmp_path, vocab, code):
    documents = [[0, vocab - 1, 1], [], [5]]
    write_pair(tmp_path / "a", vocab, [as_arrays(documents, np.uint32)])
    assert beside(tmp_path / "a", "idx").read_bytes()[17] == code
    assert read_by_layout(tmp_path / "a") == documents
    pair = open_pair(tmp_path / "a")
    assert [pair.document(n).tolist() for n in range(len(pair))] == documents


def test_no_document_at_all(tmp_path):
    assert write_pair(tmp_path / "a", 300, []) == (0, 0)
    assert read_by_layout(tmp_path / "a") == []
    assert len(open_pair(tmp_path / "a")) == 0


def test_export_is_every_document_in_the_order_of_the_shards(tokens, codec, tmp_path):
    written = export_pairs(tokens, codec, tmp_path / "out")
    names = ["train/code", "train/prose.v2", "validation/code"]
    assert [str(prefix.relative_to(tmp_path / "out")) for prefix, _ in written] == names
    for prefix, card in written:
        shards = open_documents(tokens / prefix.parent.name / prefix.name).shards
        wanted = [
            shard.ids[a:b].tolist()
            for shard in shards
            for a, b in zip(shard.offsets[:-1], shard.offsets[1:], strict=True)
        ]
        assert read_by_layout(prefix) == wanted
        assert (card.documents, card.tokens) == (len(wanted), sum(map(len, wanted)))
        assert json.loads(beside(prefix, "card.json").read_text())["tokenizer_sha256"] == codec.sha256
    assert not list(tmp_path.glob("out/**/.tmp-*"))


def test_names_are_those_of_the_shards_one_after_another(tokens, codec, tmp_path):
    prefix = export_pairs(tokens, codec, tmp_path / "out")[0][0]
    shards = open_documents(tokens / "train" / "code").shards
    assert len(shards) > 1
    tables = [read_provenance(s.path).append_column("bytes", pa.array(s.byte_counts)) for s in shards]
    assert pq.read_table(beside(prefix, "documents.parquet")).equals(pa.concat_tables(tables))


def test_names_that_cannot_be_read_leave_the_earlier_ones(tokens, codec, tmp_path):
    prefix = export_pairs(tokens, codec, tmp_path / "out")[0][0]
    names = beside(prefix, "documents.parquet")
    before = names.read_bytes()
    (tokens / "train" / "code" / "shard-00001.documents.parquet").write_bytes(b"damaged")
    with pytest.raises(DamagedError, match=r"shard-00001\.documents\.parquet"):
        export_pairs(tokens, codec, tmp_path / "out")
    assert names.read_bytes() == before
    assert not list((tmp_path / "out").glob("**/.tmp-*"))


def test_export_again_is_the_same_bytes(tokens, codec, tmp_path):
    def files():
        export_pairs(tokens, codec, tmp_path / "out")
        return {path: path.read_bytes() for path in (tmp_path / "out").glob("*/*")}

    assert files() == files()


@pytest.mark.parametrize("code", INTEGERS)
@pytest.mark.parametrize("modes", [False, True])
def test_pairs_of_others_are_read(tmp_path, code, modes):
    documents = [[[3, 4], [5, 1]], [], [[]], [[7], [], [8, 9, 1]]]
    pair = open_pair(write_by_layout(tmp_path / "a.b", documents, code, modes=modes))
    found = [pair.document(number).tolist() for number in range(len(pair))]
    assert found == [[3, 4, 5, 1], [], [], [7, 8, 9, 1]]
    assert read_by_layout(tmp_path / "a.b") == found if not modes else True


def test_documents_are_checked_alone(tmp_path):
    prefix = write_by_layout(tmp_path / "a", [[[3, 4]], [[5], [6]], [[7]]])
    index = beside(prefix, "idx")
    index.write_bytes(index.read_bytes()[:46] + struct.pack("<i", 9) + index.read_bytes()[50:])
    pair = map_pair(prefix)
    check_documents(pair, 0, 2)
    assert pair.ends(0, 2).tolist() == [0, 2, 4]
    assert pair.ends(1, 3).tolist() == [0, 2, 11]
    assert pair.document(1).tolist() == [5, 6]
    with pytest.raises(DamagedError, match=r"a\.bin is not the data"):
        check_documents(pair, 2, 3)


def test_sequences_may_lie_in_any_order(tmp_path):
    pair = open_pair(write_by_layout(tmp_path / "a", [[[3, 4], [5, 6]]], pointers=[8, 0]))
    assert pair.document(0).tolist() == [5, 6, 3, 4]


def test_another_tokenizer_is_refused(tokens, codec, tmp_path):
    codec.sha256 = "b" * 64
    with pytest.raises(MismatchError, match="another tokenizer"):
        export_pairs(tokens, codec, tmp_path / "out")


def test_an_export_that_does_not_read_back_is_refused(tokens, codec, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_index", lambda prefix, kind, lengths: index(prefix, kind, lengths[:-1]))
    with pytest.raises(DamagedError, match="does not read back"):
        export_pairs(tokens, codec, tmp_path / "out")


def test_a_damaged_shard_is_named_and_leaves_no_index(tokens, codec, tmp_path):
    shard = tokens / "train" / "code" / "shard-00001.safetensors"
    data = bytearray(shard.read_bytes())
    data[-2] ^= 1
    export_pairs(tokens, codec, tmp_path / "out")
    shard.write_bytes(data)
    with pytest.raises(DamagedError, match=r"shard-00001\.safetensors.*checksum"):
        export_pairs(tokens, codec, tmp_path / "out")
    assert not (tmp_path / "out" / "train" / "code.idx").exists()
    with pytest.raises(MissingError, match=r"no .*code\.idx"):
        open_pair(tmp_path / "out" / "train" / "code")


def test_a_full_disk_is_an_error_that_leaves_no_index(tokens, codec, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(DanluError, match=r"cannot write .*No space left"):
        export_pairs(tokens, codec, tmp_path / "out")
    assert not list((tmp_path / "out").glob("**/*.idx"))
    assert not list((tmp_path / "out").glob("**/.tmp-*"))


def test_nothing_to_export(tmp_path, codec):
    with pytest.raises(MissingError, match="no token shards"):
        export_pairs(tmp_path, codec, tmp_path / "out")


def test_missing_and_damaged_pairs_are_named(tmp_path, monkeypatch):
    prefix = tmp_path / "a"
    with pytest.raises(MissingError, match=r"no .*a\.idx; an indexed dataset is"):
        open_pair(prefix)
    write_by_layout(prefix, [[[3, 4]], [[5]]])
    good = beside(prefix, "idx").read_bytes()
    beside(prefix, "bin").unlink()
    with pytest.raises(MissingError, match=r"no .*a\.bin"):
        open_pair(prefix)
    write_by_layout(prefix, [[[3, 4]], [[5]]])
    changed = {
        b"": "MMIDIDX",
        b"TNTIDX\0\0" + bytes(40): "MMIDIDX",
        good[:20]: "MMIDIDX",
        good[:-1]: "bytes where",
        good + bytes(1): "bytes where",
        good[:9] + bytes([2]) + good[10:]: "version 2",
        good[:17] + bytes([6]) + good[18:]: "type code 6",
        good[:18] + b"\xff" * 8 + good[26:]: "bytes where",
        good[:34] + struct.pack("<i", -1) + good[38:]: "outside",
        good[:34] + struct.pack("<i", 4) + good[38:]: "outside",
        good[:42] + struct.pack("<q", 2) + good[50:]: "outside",
        good[:42] + struct.pack("<q", 2**63 - 4) + good[50:]: "outside",
        good[:58] + struct.pack("<q", 1) + good[66:]: "do not rise",
        good[:66] + struct.pack("<q", 3) + good[74:]: "do not rise",
        good[:74] + struct.pack("<q", 1) + good[82:]: "do not rise",
        good[:26] + struct.pack("<Q", 0) + good[34:58]: "do not rise",
    }
    for documents, (data, said) in itertools.product((1, 1000), changed.items()):
        beside(prefix, "idx").write_bytes(data)
        monkeypatch.setattr(module, "_BLOCK_DOCUMENTS", documents)
        with pytest.raises(DamagedError, match=said):
            open_pair(prefix)


def test_a_document_that_the_format_cannot_hold(tmp_path):
    with pytest.raises(InputError, match=r"2,147,483,648 tokens.*2\^31"):
        write_pair(tmp_path / "a", 300, [(np.zeros(0, np.uint16), np.array([2**31]))])
    assert not beside(tmp_path / "a", "idx").exists()
