"""What is exported and read again is the same domain; documents of others get BOS and EOS; what cannot be is named."""

import itertools
import struct

import numpy as np
import pytest

from danlu.errors import DamagedError, InputError, MismatchError, MissingError
from danlu.rng import hash_text
from danlu.shards import megatron_import as module
from danlu.shards.documents import open_documents
from danlu.shards.megatron import MAGIC, beside, export_pairs, open_pair
from danlu.shards.megatron_import import copy_range, list_ranges, pair_files
from danlu.shards.shard import ShardHeader, new_shard
from small_shards import LENGTHS


def read_pair(prefix, codec, directory):
    """All ranges of a pair as shards of a domain; what was counted, summed."""
    total = {}
    header = ShardHeader(directory.name, codec.sha256, codec.vocab_size, codec.bos_id, codec.eos_id, "")
    for number, wanted in enumerate(list_ranges(prefix)):
        with new_shard(directory / f"shard-{number:05d}.safetensors", header) as shard:
            for name, count in copy_range(wanted, codec, shard).items():
                total[name] = total.get(name, 0) + count
    return total


def write_by_layout(prefix, documents):
    """A pair of int32 whose documents are lists of sequences."""
    sequences = [sequence for document in documents for sequence in document]
    lengths = [len(sequence) for sequence in sequences]
    starts = [sum(lengths[:i]) * 4 for i in range(len(lengths))]
    bounds = [sum(map(len, documents[:i])) for i in range(len(documents) + 1)]
    index = MAGIC + struct.pack("<QBQQ", 1, 4, len(sequences), len(bounds))
    index += struct.pack(f"<{len(lengths)}i", *lengths) + struct.pack(f"<{len(starts)}q", *starts)
    beside(prefix, "idx").write_bytes(index + struct.pack(f"<{len(bounds)}q", *bounds))
    beside(prefix, "bin").write_bytes(np.array([i for s in sequences for i in s], "<i4").tobytes())
    return prefix


@pytest.mark.parametrize("chunk_tokens", [1, 10, 10**6])
def test_there_and_back_is_the_same_domain(tokens, codec, tmp_path, monkeypatch, chunk_tokens):
    export_pairs(tokens, codec, tmp_path / "out")
    monkeypatch.setattr(module, "SHARD_TOKENS", 20)
    monkeypatch.setattr(module, "_CHUNK_TOKENS", chunk_tokens)
    for domain, lengths in LENGTHS.items():
        directory = tmp_path / "back" / domain
        counts = read_pair(tmp_path / "out" / "train" / domain, codec, directory)
        assert counts == {"bos_added": 0, "eos_added": 0, "empty": 0}
        one, two = open_documents(tokens / "train" / domain, codec), open_documents(directory, codec)
        assert len(two.shards) > 1
        assert len(one) == len(two) == len(lengths)
        for number in range(len(lengths)):
            assert one.tokens_of(number, 0, 999).tolist() == two.tokens_of(number, 0, 999).tolist()
            assert one.provenance(number) == two.provenance(number)
            # The size of the text, which is not that of the decoded ids here.
            assert one.byte_counts[number] == two.byte_counts[number]


def test_rows_come_from_any_groups(tokens, codec, tmp_path, monkeypatch):
    monkeypatch.setattr("danlu.shards.megatron._ROWS", 2)
    monkeypatch.setattr(module, "SHARD_TOKENS", 8)
    export_pairs(tokens, codec, tmp_path / "out")
    read_pair(tmp_path / "out" / "train" / "code", codec, tmp_path / "back" / "code")
    back = open_documents(tmp_path / "back" / "code", codec)
    assert {back.provenance(n)["id"] for n in range(len(back))} == {f"code-{n}" for n in range(7)}
    for number in range(len(back)):
        name = back.provenance(number)["id"]
        shard = back.shards[int(back._shard_of[number])]
        assert shard.id_hashes[int(back._row_of[number])] == hash_text(name)


def test_documents_of_others_get_bos_and_eos(tmp_path, codec, monkeypatch):
    monkeypatch.setattr(module, "SHARD_TOKENS", 3)
    documents = [[[]], [[0, 9, 1]], [[9, 1]], [[0], [9]], [[9]], [], [[1]], [[0]]]
    directory = tmp_path / "tokens" / "train" / "web"
    counts = read_pair(write_by_layout(tmp_path / "a", documents), codec, directory)
    assert counts == {"bos_added": 3, "eos_added": 3, "empty": 2}
    found = open_documents(directory, codec)
    rows = {found.provenance(n)["id"]: n for n in range(len(found))}
    wanted = {1: [0, 9, 1], 2: [0, 9, 1], 3: [0, 9, 1], 4: [0, 9, 1], 6: [0, 1], 7: [0, 1]}
    assert {name: found.tokens_of(n, 0, 99).tolist() for name, n in rows.items()} == {
        f"a.bin:{number}": ids for number, ids in wanted.items()
    }
    place = found.provenance(rows["a.bin:3"])
    assert [place[key] for key in ("source", "start", "end")] == ["a.bin", 20, 28]
    assert found.byte_counts[rows["a.bin:3"]] == 1


def test_where_bos_is_eos_both_are_there(tmp_path, codec):
    codec.bos_id = 1
    directory = tmp_path / "tokens" / "train" / "web"
    read_pair(write_by_layout(tmp_path / "a", [[[9, 1]], [[1]], [[1, 9]]]), codec, directory)
    found = open_documents(directory, codec)
    assert sorted(found.tokens_of(n, 0, 99).tolist() for n in range(3)) == [[1, 1], [1, 9, 1], [1, 9, 1]]


@pytest.mark.parametrize("wrong", [300, -1])
def test_ids_that_the_tokenizer_lacks_are_refused(tmp_path, codec, wrong):
    write_by_layout(tmp_path / "a", [[[9]], [[0, wrong, 1]]])
    with pytest.raises(InputError, match=rf"a\.bin: document 1 has the id {wrong}.*300 tokens"):
        read_pair(tmp_path / "a", codec, tmp_path / "web")
    assert not list((tmp_path / "web").iterdir())


def test_ranges_cover_a_pair_once(tmp_path, monkeypatch):
    documents = [[], [[5] * 7], [[6]], [], [[7] * 30], [[8]], []]
    prefix = write_by_layout(tmp_path / "a", documents)
    for tokens, block in itertools.product((1, 3, 8, 1000), (1, 2, 1000)):
        monkeypatch.setattr(module, "SHARD_TOKENS", tokens)
        monkeypatch.setattr(module, "_BLOCK_DOCUMENTS", block)
        ranges = list_ranges(prefix)
        numbers = [n for wanted in ranges for n in range(wanted.first, wanted.stop)]
        assert numbers == list(range(len(documents)))
        assert [wanted.bytes for wanted in ranges] == [
            4 * sum(len(ids) for document in documents[wanted.first : wanted.stop] for ids in document)
            for wanted in ranges
        ]
        ends = np.cumsum([0, 0, 7, 1, 0, 30, 1, 0])
        marks = np.searchsorted(ends, np.arange(0, 39, tokens), side="right") - 1
        assert [wanted.first for wanted in ranges] == np.unique([0, *marks]).tolist()


def test_an_index_that_changed_since_it_was_listed_is_refused(tmp_path, codec):
    prefix = write_by_layout(tmp_path / "a", [[[0, 1]], [[0, 9, 1]]])
    (wanted,) = list_ranges(prefix)
    index = beside(prefix, "idx").read_bytes()
    beside(prefix, "idx").write_bytes(index[:34] + struct.pack("<i", 9) + index[38:])
    with pytest.raises(DamagedError, match=r"a\.bin is not the data"):
        copy_range(wanted, codec, None)
    write_by_layout(tmp_path / "a", [[[0, 1]]])
    with pytest.raises(DamagedError, match=r"a\.idx changed while"):
        copy_range(wanted, codec, None)


def test_a_pair_without_text_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"a\.idx holds no document"):
        list_ranges(write_by_layout(tmp_path / "a", [[], [[]]]))


def test_another_tokenizer_is_refused(tokens, codec, tmp_path):
    export_pairs(tokens, codec, tmp_path / "out")
    codec.sha256 = "b" * 64
    with pytest.raises(MismatchError, match=r"code\.card\.json was written with another tokenizer: SHA-256"):
        read_pair(tmp_path / "out" / "train" / "code", codec, tmp_path / "back" / "code")


def test_what_stands_beside_a_pair_must_fit(tokens, codec, tmp_path):
    prefix = export_pairs(tokens, codec, tmp_path / "out")[0][0]
    card, names = beside(prefix, "card.json"), beside(prefix, "documents.parquet")
    assert [path.name for path in pair_files(prefix)] == [
        f"code.{ending}" for ending in ("bin", "idx", "card.json", "documents.parquet")
    ]
    good = card.read_text()
    changes = {
        '"documents": 7': '"documents": 8',
        '"bos_id"': '"bos"',
        "danlu.megatron/1": "danlu.megatron/9",
    }
    for old, new in changes.items():
        card.write_text(good.replace(old, new))
        with pytest.raises(DamagedError, match=r"code\.card\.json"):
            read_pair(prefix, codec, tmp_path / "back" / "code")
    card.write_text(good)
    names.write_bytes(names.read_bytes()[:-20])
    with pytest.raises(DamagedError, match=r"code\.card\.json"):
        read_pair(prefix, codec, tmp_path / "back" / "code")


def test_a_pair_of_danlu_keeps_its_places_in_the_bin(tokens, codec, tmp_path):
    prefix = export_pairs(tokens, codec, tmp_path / "out")[0][0]
    beside(prefix, "card.json").unlink()
    read_pair(prefix, codec, tmp_path / "back" / "code")
    found, pair = open_documents(tmp_path / "back" / "code", codec), open_pair(prefix)
    for number in range(len(found)):
        place = found.provenance(number)
        assert place["id"] == f"code.bin:{place['id'].rpartition(':')[2]}"
        ids = pair.ids[place["start"] // 2 : place["end"] // 2].tolist()
        assert ids == found.tokens_of(number, 0, 99).tolist()
        assert found.byte_counts[number] == len(codec.decode(ids).encode())


def test_missing(tmp_path):
    with pytest.raises(MissingError, match="an indexed dataset is"):
        list_ranges(tmp_path / "none")


def test_ids_that_no_sequence_has_are_said(tmp_path, capsys):
    prefix = write_by_layout(tmp_path / "p", [[[0, 5, 1]], [[0, 6, 7, 1]]])
    list_ranges(prefix)
    assert capsys.readouterr().err == ""
    with beside(prefix, "bin").open("ab") as file:
        file.write(b"\0" * 8)
    list_ranges(prefix)
    assert "holds 9 ids and its index speaks of 7; the rest is not read" in capsys.readouterr().err
