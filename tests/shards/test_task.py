"""One task makes one shard, says what it was made of, and is known to be finished without being read."""

import ctypes
import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from danlu.errors import DamagedError
from danlu.read.store import write_part
from danlu.records import Document
from danlu.shards import task as module
from danlu.shards.join import PARTS
from danlu.shards.megatron import beside, write_pair
from danlu.shards.megatron_import import list_ranges
from danlu.shards.shard import open_shard, read_header, read_provenance
from danlu.shards.task import (
    chunks,
    counts_of,
    is_finished,
    make_shard,
    pair_task,
    part_task,
    remove_shard,
    stamp,
)
from danlu.tokenizer.codec import Codec
from danlu.tokenizer.settings import TokenizerSettings
from danlu.tokenizer.train import train_tokenizer

TEXTS = ["", "a b c", "好 🚀\r\n\0", "x" * 300]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    directory = tmp_path_factory.mktemp("tokenizer")
    return train_tokenizer(TokenizerSettings(vocab_size=300), lambda: iter(["a b c d " * 99]), directory).path


@pytest.fixture
def part(tmp_path):
    path = tmp_path / "corpus" / "train" / "code" / "part-00000.parquet"
    write_part(path, [Document(f"d{n}", text, "s", "code", "g") for n, text in enumerate(TEXTS)])
    return path


def the_task(tokenizer, part, tmp_path, **changes):
    shard = tmp_path / "train" / "code" / "shard-00000.safetensors"
    return part_task(tokenizer, shard, part, **{"made_of": stamp(part), "joined": False, **changes})


def test_a_part_becomes_a_shard(tokenizer, part, tmp_path):
    argument = the_task(tokenizer, part, tmp_path)
    json.dumps(argument)
    assert not is_finished(argument)
    make_shard(argument)
    assert is_finished(argument)
    path, codec = tmp_path / "train" / "code" / "shard-00000.safetensors", Codec.load(tokenizer)
    shard = open_shard(path)
    documents = zip(shard.offsets[:-1], shard.offsets[1:], strict=True)
    assert [codec.decode(shard.ids[a:b].tolist()) for a, b in documents] == TEXTS
    assert shard.byte_counts.tolist() == [len(text.encode()) for text in TEXTS]
    assert (read_header(path).tokenizer_sha256, read_header(path).domain) == (codec.sha256, "code")
    assert counts_of(path) == {}


def test_again_nothing_is_written_but_the_note(tokenizer, part, tmp_path, monkeypatch):
    argument = the_task(tokenizer, part, tmp_path)
    make_shard(argument)
    before = stamp(tmp_path / "train" / "code" / "shard-00000.safetensors")

    def read(path):
        raise AssertionError(f"{path} was encoded")

    monkeypatch.setattr(module, "read_part", read)
    make_shard(argument)
    assert stamp(tmp_path / "train" / "code" / "shard-00000.safetensors") == before


@pytest.mark.parametrize(
    "what", ["made-00000.json", "shard-00000.safetensors", "shard-00000.documents.parquet"]
)
@pytest.mark.parametrize("how", ["gone", "touched", "torn"])
def test_what_moved_is_not_finished_and_is_put_right(tokenizer, part, tmp_path, what, how):
    argument = the_task(tokenizer, part, tmp_path)
    make_shard(argument)
    path = tmp_path / "train" / "code" / what
    before = {each.name: each.read_bytes() for each in path.parent.glob("shard-*")}
    if how == "gone":
        path.unlink()
    elif how == "torn":
        path.write_bytes(path.read_bytes()[:-9])
    else:
        os.utime(path, ns=(1, 1))
    assert is_finished(argument) == (how == "touched" and what.startswith("made"))
    make_shard(argument)
    assert is_finished(argument)
    if what.endswith("parquet") and how == "torn":
        # Its pages are read when it is asked for: only that it is there is looked at here.
        before.pop(what)
    assert before.items() <= {each.name: each.read_bytes() for each in path.parent.glob("shard-*")}.items()


def test_another_text_or_tokenizer_is_not_finished(tokenizer, part, tmp_path):
    argument = the_task(tokenizer, part, tmp_path)
    make_shard(argument)
    assert not is_finished({**argument, "made_of": [1, 2]})
    other = tmp_path / "other.json"
    other.write_bytes(tokenizer.read_bytes() + b"\n")
    assert not is_finished({**argument, "tokenizer": str(other)})
    make_shard({**argument, "tokenizer": str(other)})
    assert read_header(
        tmp_path / "train/code/shard-00000.safetensors"
    ).tokenizer_sha256 == module.sha256_file(other)


def test_of_joined_documents_the_parts_are_kept(tokenizer, part, tmp_path):
    make_shard(the_task(tokenizer, part, tmp_path))
    path = tmp_path / "train" / "code" / "shard-00000.safetensors"
    assert PARTS not in read_provenance(path).column_names
    make_shard(the_task(tokenizer, part, tmp_path, joined=True))
    assert read_provenance(path).column(PARTS).to_pylist() == [""] * 4


def test_a_range_of_a_pair(tokenizer, tmp_path):
    write_pair(tmp_path / "raw", 300, [(np.array([9, 9, 8], np.uint16), np.array([2, 0, 1]))])
    shard = tmp_path / "train" / "raw" / "shard-00000.safetensors"
    (wanted,) = list_ranges(tmp_path / "raw")
    argument = pair_task(tokenizer, shard, wanted)
    make_shard(argument)
    assert is_finished(argument)
    assert counts_of(shard) == {"bos_added": 2, "eos_added": 2, "empty": 1}
    codec = Codec.load(tokenizer)
    ends = codec.bos_id, codec.eos_id
    assert open_shard(shard).ids.tolist() == [ends[0], 9, 9, ends[1], ends[0], 8, ends[1]]
    os.utime(beside(tmp_path / "raw", "bin"), ns=(1, 1))
    assert not is_finished(pair_task(tokenizer, shard, wanted))


def test_removed_with_all_that_lies_beside_it(tokenizer, part, tmp_path):
    argument = the_task(tokenizer, part, tmp_path)
    make_shard(argument)
    remove_shard(tmp_path / "train" / "code" / "shard-00000.safetensors")
    assert not list((tmp_path / "train" / "code").iterdir())


def test_a_damaged_part_is_named_and_leaves_no_shard(tokenizer, part, tmp_path):
    part.write_bytes(part.read_bytes()[:-30])
    with pytest.raises(DamagedError, match=r"part-00000\.parquet is damaged"):
        make_shard(the_task(tokenizer, part, tmp_path))
    assert not list((tmp_path / "train" / "code").iterdir())


@pytest.mark.parametrize("most", [1, 5, 10**9])
def test_chunks_hold_every_document_once(monkeypatch, most):
    monkeypatch.setattr(module, "CHUNK_CHARACTERS", most)
    documents = [Document(str(n), "x" * n, "s", "d", "g") for n in range(7)]
    found = list(chunks(documents))
    assert [document for chunk in found for document in chunk] == documents
    assert all(sum(len(document.text) for document in chunk[:-1]) < most for chunk in found)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="another C library keeps less")
@pytest.mark.parametrize(
    "make", [lambda: bytearray(b"x" * 100_000), lambda: pa.array(np.ones(20_000)).cast(pa.float32())]
)
def test_memory_that_is_free_goes_back_to_the_system(tokenizer, part, tmp_path, make):
    def held_mb():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    before = held_mb()
    blocks = [make() for _ in range(1000)]
    last = blocks[-1]  # above all that is free
    del blocks
    make_shard(the_task(tokenizer, part, tmp_path))
    assert held_mb() < before + 50
    del last
