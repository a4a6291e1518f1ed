"""Corpus to shards: everything is there, nothing is made twice, what is gone goes, a full disk loses nothing."""

import ast
import difflib
import errno
import inspect
import json
import os
import random

import numpy as np
import pytest

from danlu.errors import DanluError, InputError
from danlu.read.store import part_path, write_part
from danlu.records import Document
from danlu.shards import task
from danlu.shards.build import Joining, build_tokens
from danlu.shards.documents import open_documents
from danlu.shards.megatron import beside, export_pairs, write_pair
from danlu.shards.shard import verify_shard
from danlu.tokenizer.codec import Codec
from danlu.tokenizer.settings import TokenizerSettings
from danlu.tokenizer.train import train_tokenizer
from killed import run_killed

TEXTS = {
    "code": inspect.getsource(difflib).split("\n\n"),
    "prose": ["", "好 🚀", inspect.getdoc(ast.literal_eval)],
}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    directory = tmp_path_factory.mktemp("tokenizer")
    return train_tokenizer(TokenizerSettings(vocab_size=300), lambda: iter(TEXTS["code"]), directory).path


@pytest.fixture(scope="module")
def real_codec(tokenizer):
    return Codec.load(tokenizer)


@pytest.fixture
def corpus(tmp_path):
    root = tmp_path / "corpus"
    for domain, texts in TEXTS.items():
        documents = [
            Document(f"{domain}{i}", t, f"{domain}.py", domain, "g", i, i + 1) for i, t in enumerate(texts)
        ]
        write_part(part_path(root, "validation", domain, 0), documents[:1])
        write_part(part_path(root, "train", domain, 0), documents[1:9])
        if documents[9:]:
            write_part(part_path(root, "train", domain, 1), documents[9:])
    return root


def shards_of(directory):
    """Every shard and provenance, by name."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("shard-*")}


def state(directory):
    return {
        path: (path.stat().st_mtime_ns, path.read_bytes()) for path in directory.rglob("*") if path.is_file()
    }


def test_every_document_is_there(corpus, tokenizer, real_codec, tmp_path):
    report = build_tokens(tokenizer, corpus, tmp_path / "tokens")
    texts = {f"{domain}{i}": text for domain in TEXTS for i, text in enumerate(TEXTS[domain])}
    found = {}
    for row in report.domains:
        documents = open_documents(tmp_path / "tokens" / row.split / row.domain, real_codec)
        assert (row.documents, row.tokens) == (len(documents), documents.tokens)
        for i in range(len(documents)):
            ids = documents.tokens_of(i, 0, 10**9)
            name = documents.provenance(i)["id"]
            assert (ids[0], ids[-1]) == (real_codec.bos_id, real_codec.eos_id)
            assert (
                real_codec.token_bytes()[ids].sum() == documents.byte_counts[i] == len(texts[name].encode())
            )
            found[name] = real_codec.decode(ids)
    assert found == texts
    assert sum(row.bytes for row in report.domains) == sum(len(text.encode()) for text in texts.values())
    assert report.tokens("train") + report.tokens("validation") == sum(row.tokens for row in report.domains)
    json.dumps(report.to_json())


def test_a_finished_shard_is_not_made_again(corpus, tokenizer, tmp_path):
    tokens = tmp_path / "tokens"
    first = build_tokens(tokenizer, corpus, tokens)
    before = state(tokens)
    again = build_tokens(tokenizer, corpus, tokens)
    assert state(tokens) == before
    assert [row.shards_made for row in again.domains] == [0] * 4
    assert [(row.tokens, row.shards) for row in again.domains] == [
        (row.tokens, row.shards) for row in first.domains
    ]


def test_a_damaged_shard_is_made_again(corpus, tokenizer, tmp_path):
    build_tokens(tokenizer, corpus, tmp_path / "tokens")
    shard = next((tmp_path / "tokens").rglob("shard-*.safetensors"))
    data = shard.read_bytes()
    shard.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    report = build_tokens(tokenizer, corpus, tmp_path / "tokens")
    assert sum(row.shards_made for row in report.domains) == 1
    assert shard.read_bytes() == data


def test_only_what_changed_is_made_again(corpus, tokenizer, tmp_path):
    tokens = tmp_path / "tokens"
    build_tokens(tokenizer, corpus, tokens)
    (tokens / "train" / "code" / "shard-00001.safetensors").write_bytes(b"torn")
    write_part(part_path(corpus, "train", "prose", 0), [Document("new", "new text", "s", "prose", "g")])
    made = {
        (row.split, row.domain): row.shards_made for row in build_tokens(tokenizer, corpus, tokens).domains
    }
    assert made == {
        ("train", "code"): 1,
        ("train", "prose"): 1,
        ("validation", "code"): 0,
        ("validation", "prose"): 0,
    }


def test_another_tokenizer_makes_all_again(corpus, tokenizer, tmp_path):
    build_tokens(tokenizer, corpus, tmp_path / "tokens")
    trained = train_tokenizer(
        TokenizerSettings(vocab_size=290), lambda: iter(TEXTS["code"]), tmp_path / "other"
    )
    report = build_tokens(trained.path, corpus, tmp_path / "tokens")
    assert all(row.shards_made == row.shards for row in report.domains)


def test_parts_and_domains_that_are_gone_go(corpus, tokenizer, tmp_path):
    tokens = tmp_path / "tokens"
    build_tokens(tokenizer, corpus, tokens)
    part_path(corpus, "train", "code", 1).unlink()
    part_path(corpus, "train", "prose", 0).unlink()
    report = build_tokens(tokenizer, corpus, tokens)
    assert [row.shards for row in report.domains if row.split == "train"] == [1]
    names = sorted(str(path.relative_to(tokens)) for path in (tokens / "train").rglob("shard-*"))
    assert names == ["train/code/shard-00000.documents.parquet", "train/code/shard-00000.safetensors"]


def test_full_disk_keeps_the_finished_shards(corpus, tokenizer, tmp_path, monkeypatch):
    tokens = tmp_path / "tokens"
    calls = []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) >= 8:  # the first shard takes six: three files, each with its folder
            raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(DanluError, match="free some space"):
        build_tokens(tokenizer, corpus, tokens)
    monkeypatch.undo()
    shards = sorted(tokens.rglob("shard-*.safetensors"))
    assert len(shards) == 1
    verify_shard(shards[0])
    before = shards[0].stat().st_mtime_ns
    report = build_tokens(tokenizer, corpus, tokens)
    assert shards[0].stat().st_mtime_ns == before
    assert not list(tokens.rglob(".tmp-*"))
    assert sum(row.shards_made for row in report.domains) == 4


def test_no_text(tmp_path, tokenizer):
    (tmp_path / "corpus" / "train").mkdir(parents=True)
    with pytest.raises(InputError, match="no training text"):
        build_tokens(tokenizer, tmp_path / "corpus", tmp_path / "tokens")


def test_same_bytes_every_time_whatever_the_workers(corpus, tokenizer, tmp_path):
    build_tokens(tokenizer, corpus, tmp_path / "a")
    build_tokens(tokenizer, corpus, tmp_path / "b", workers=None)
    build_tokens(tokenizer, corpus, tmp_path / "c", workers=2)
    assert shards_of(tmp_path / "a") == shards_of(tmp_path / "b") == shards_of(tmp_path / "c")


def test_the_bytes_do_not_depend_on_how_many_documents_come_at_a_time(
    corpus, tokenizer, tmp_path, monkeypatch
):
    build_tokens(tokenizer, corpus, tmp_path / "a")
    monkeypatch.setattr(task, "CHUNK_CHARACTERS", 1)
    build_tokens(tokenizer, corpus, tmp_path / "b")
    assert shards_of(tmp_path / "a") == shards_of(tmp_path / "b")


def test_a_finished_shard_is_not_read_again(corpus, tokenizer, tmp_path, monkeypatch):
    build_tokens(tokenizer, corpus, tmp_path / "tokens")

    def read(path):
        raise AssertionError(f"{path} was read")

    monkeypatch.setattr(task, "verify_shard", read)
    monkeypatch.setattr(task, "read_part", read)
    report = build_tokens(tokenizer, corpus, tmp_path / "tokens")
    assert sum(row.shards_made for row in report.domains) == 0


def test_without_its_note_a_whole_shard_is_verified_and_kept(corpus, tokenizer, tmp_path):
    tokens = tmp_path / "tokens"
    build_tokens(tokenizer, corpus, tokens)
    before = state(tokens)
    for number, note in enumerate(sorted(tokens.rglob("made-*.json"))):
        if number % 2:
            note.write_bytes(b"torn")
        else:
            note.unlink()
    os.utime(part_path(corpus, "train", "prose", 0), ns=(1, 1))
    assert sum(row.shards_made for row in build_tokens(tokenizer, corpus, tokens).domains) == 0
    after = state(tokens)
    assert before.keys() == after.keys()
    assert all(after[path] == before[path] for path in before if path.name.startswith("shard-"))


def test_documents_are_joined_and_their_parts_are_named(corpus, tokenizer, real_codec, tmp_path, capsys):
    tokens = tmp_path / "tokens"
    documents = [
        Document(f"f{n}", f"text {n}\n", f"{n}.py", "code", "g", metadata={"repo": "ab"[n % 2]} if n else {})
        for n in range(5)
    ]
    write_part(part_path(corpus, "train", "code", 0), documents[:3])
    write_part(part_path(corpus, "train", "code", 1), documents[3:])
    first = build_tokens(tokenizer, corpus, tokens, join={"code": Joining("repo")})
    assert "train/code: 4 documents joined into 2; 1 have no repo and stay alone" in capsys.readouterr().err
    found = open_documents(tokens / "train" / "code", real_codec)
    texts, parts = {}, {}
    for number in range(len(found)):
        place = found.provenance(number)
        texts[place["id"]] = real_codec.decode(found.tokens_of(number, 0, 999))
        parts[place["id"]] = [row[:2] for row in json.loads(place["parts"] or "[]")]
        assert found.byte_counts[number] == len(texts[place["id"]].encode())
    assert texts == {
        "f0": "text 0\n",
        "joined:a": "text 2\n\n\ntext 4\n",
        "joined:b": "text 1\n\n\ntext 3\n",
    }
    assert parts == {
        "f0": [],
        "joined:a": [["f2", "2.py"], ["f4", "4.py"]],
        "joined:b": [["f1", "1.py"], ["f3", "3.py"]],
    }
    assert [(row.documents, row.shards) for row in first.domains if row.domain == "code"] == [(3, 1), (1, 1)]
    assert not list(tokens.glob(".tmp-*"))
    whole = state(tokens)
    again = build_tokens(tokenizer, corpus, tokens, join={"code": Joining("repo")})
    assert state(tokens) == whole
    assert sum(row.shards_made for row in again.domains) == 0
    assert "train/code: 4 documents joined into 2" in capsys.readouterr().err


def test_what_is_no_longer_joined_is_made_again(corpus, tokenizer, real_codec, tmp_path):
    tokens = tmp_path / "tokens"
    build_tokens(tokenizer, corpus, tmp_path / "plain")
    build_tokens(tokenizer, corpus, tokens, join={"code": Joining("folder", ("",))})
    report = build_tokens(tokenizer, corpus, tokens)
    assert {row.domain for row in report.domains if row.shards_made} == {"code"}
    assert shards_of(tokens) == shards_of(tmp_path / "plain")
    assert not list(tokens.rglob("joined.json"))


def test_a_pair_becomes_a_domain(corpus, tokenizer, real_codec, tmp_path, capsys, monkeypatch):
    build_tokens(tokenizer, corpus, tmp_path / "one")
    export_pairs(tmp_path / "one", real_codec, tmp_path / "out")
    monkeypatch.setattr("danlu.shards.megatron_import.SHARD_TOKENS", 500)
    tokens, given = tmp_path / "tokens", {"books": tmp_path / "out" / "train" / "code"}
    report = build_tokens(tokenizer, corpus, tokens, workers=2, pairs=given)
    row = next(row for row in report.domains if row.domain == "books")
    assert row.shards_made == row.shards > 1
    assert "books" not in capsys.readouterr().err
    one = open_documents(tmp_path / "one" / "train" / "code", real_codec)
    two = open_documents(tokens / "train" / "books", real_codec)
    assert (len(one), one.tokens) == (len(two), two.tokens)
    for number in range(len(one)):
        assert one.tokens_of(number, 0, 9999).tolist() == two.tokens_of(number, 0, 9999).tolist()
        assert one.provenance(number) == two.provenance(number)
        assert one.byte_counts[number] == two.byte_counts[number]
    before = state(tokens)
    report = build_tokens(tokenizer, corpus, tokens, pairs=given)
    assert state(tokens) == before
    assert sum(row.shards_made for row in report.domains) == 0
    beside(given["books"], "card.json").unlink()
    os.utime(beside(given["books"], "bin"), ns=(1, 1))
    report = build_tokens(tokenizer, corpus, tokens, pairs=given)
    assert {row.domain for row in report.domains if row.shards_made} == {"books"}
    assert open_documents(tokens / "train" / "books").provenance(0)["source"] == "code.bin"
    assert "books" not in {row.domain for row in build_tokens(tokenizer, corpus, tokens).domains}
    assert not list((tokens / "train" / "books").glob("*"))


def test_a_pair_of_others_is_given_its_ends(corpus, tokenizer, real_codec, tmp_path, capsys):
    ids = np.array(real_codec.encode("raw text") * 3, dtype=np.uint16)
    write_pair(tmp_path / "raw", 300, [(ids, np.array([len(ids), 0]))])
    report = build_tokens(tokenizer, corpus, tmp_path / "tokens", pairs={"raw": tmp_path / "raw"})
    row = next(row for row in report.domains if row.domain == "raw")
    assert (row.documents, row.tokens, row.bytes) == (1, len(ids) + 2, 24)
    said = capsys.readouterr().err
    assert "raw: BOS was added to 1 documents, EOS to 1; 1 empty ones are left out" in said
    build_tokens(tokenizer, corpus, tmp_path / "tokens", pairs={"raw": tmp_path / "raw"})
    assert "BOS was added to 1 documents" in capsys.readouterr().err


def test_a_pair_may_not_take_the_name_of_a_domain(corpus, tokenizer, tmp_path):
    write_pair(tmp_path / "raw", 300, [(np.array([5], np.uint16), np.array([1]))])
    with pytest.raises(InputError, match="'code' is a domain of the corpus"):
        build_tokens(tokenizer, corpus, tmp_path / "tokens", pairs={"code": tmp_path / "raw"})


KILLED = """
from danlu.shards.build import Joining, build_tokens
tokenizer, corpus, tokens = map(Path, sys.argv[1:])
build_tokens(tokenizer, corpus, tokens, join={"code": Joining("kind")})
"""


@pytest.mark.slow
def test_killed_at_drawn_calls_of_the_system_the_same_bytes(corpus, tokenizer, tmp_path):
    join = {"code": Joining("kind")}
    build_tokens(tokenizer, corpus, tmp_path / "whole", join=join)
    whole, kept, draw = shards_of(tmp_path / "whole"), 0, random.Random(5)
    for number in range(8):
        tokens = tmp_path / f"tokens-{number}"
        place = draw.randrange(2, 75)
        assert run_killed(place, KILLED, tokenizer, corpus, tokens), f"not killed at {place}"
        before = state(tokens)
        build_tokens(tokenizer, corpus, tokens, join=join)
        assert shards_of(tokens) == whole
        assert not list(tokens.rglob(".tmp-*"))
        after = state(tokens)
        finished = [
            path for path in before if path.suffix == ".safetensors" and path.name.startswith("shard")
        ]
        assert all(after[path] == before[path] for path in finished)
        kept += len(finished)
    assert kept
