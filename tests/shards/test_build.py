"""Corpus to shards: everything is there, nothing is made twice, what is gone goes, a full disk loses nothing."""

import ast
import difflib
import errno
import inspect
import json

import pytest

from danlu.errors import DanluError, InputError
from danlu.read.store import part_path, write_part
from danlu.records import Document
from danlu.shards.build import build_tokens
from danlu.shards.documents import open_documents
from danlu.shards.shard import verify_shard
from danlu.tokenizer.codec import Codec
from danlu.tokenizer.settings import TokenizerSettings
from danlu.tokenizer.train import train_tokenizer

TEXTS = {
    "code": inspect.getsource(difflib).split("\n\n"),
    "prose": ["", "好 🚀", inspect.getdoc(ast.literal_eval)],
}


@pytest.fixture(scope="module")
def real_codec(tmp_path_factory):
    directory = tmp_path_factory.mktemp("tokenizer")
    return Codec.load(
        train_tokenizer(TokenizerSettings(vocab_size=300), lambda: iter(TEXTS["code"]), directory).path
    )


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


def state(directory):
    return {
        path: (path.stat().st_mtime_ns, path.read_bytes()) for path in directory.rglob("*") if path.is_file()
    }


def test_every_document_is_there(corpus, real_codec, tmp_path):
    report = build_tokens(real_codec, corpus, tmp_path / "tokens")
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


def test_a_finished_shard_is_not_made_again(corpus, real_codec, tmp_path):
    tokens = tmp_path / "tokens"
    first = build_tokens(real_codec, corpus, tokens)
    before = state(tokens)
    again = build_tokens(real_codec, corpus, tokens)
    assert state(tokens) == before
    assert [row.shards_made for row in again.domains] == [0] * 4
    assert [(row.tokens, row.shards) for row in again.domains] == [
        (row.tokens, row.shards) for row in first.domains
    ]


def test_a_damaged_shard_is_made_again(corpus, real_codec, tmp_path):
    build_tokens(real_codec, corpus, tmp_path / "tokens")
    shard = next((tmp_path / "tokens").rglob("shard-*.safetensors"))
    data = shard.read_bytes()
    shard.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    report = build_tokens(real_codec, corpus, tmp_path / "tokens")
    assert sum(row.shards_made for row in report.domains) == 1
    assert shard.read_bytes() == data


def test_only_what_changed_is_made_again(corpus, real_codec, tmp_path):
    tokens = tmp_path / "tokens"
    build_tokens(real_codec, corpus, tokens)
    (tokens / "train" / "code" / "shard-00001.safetensors").write_bytes(b"torn")
    write_part(part_path(corpus, "train", "prose", 0), [Document("new", "new text", "s", "prose", "g")])
    made = {
        (row.split, row.domain): row.shards_made for row in build_tokens(real_codec, corpus, tokens).domains
    }
    assert made == {
        ("train", "code"): 1,
        ("train", "prose"): 1,
        ("validation", "code"): 0,
        ("validation", "prose"): 0,
    }


def test_another_tokenizer_makes_all_again(corpus, real_codec, tmp_path):
    build_tokens(real_codec, corpus, tmp_path / "tokens")
    trained = train_tokenizer(
        TokenizerSettings(vocab_size=290), lambda: iter(TEXTS["code"]), tmp_path / "other"
    )
    report = build_tokens(Codec.load(trained.path), corpus, tmp_path / "tokens")
    assert all(row.shards_made == row.shards for row in report.domains)


def test_parts_and_domains_that_are_gone_go(corpus, real_codec, tmp_path):
    tokens = tmp_path / "tokens"
    build_tokens(real_codec, corpus, tokens)
    part_path(corpus, "train", "code", 1).unlink()
    part_path(corpus, "train", "prose", 0).unlink()
    report = build_tokens(real_codec, corpus, tokens)
    assert [row.shards for row in report.domains if row.split == "train"] == [1]
    names = sorted(str(path.relative_to(tokens)) for path in (tokens / "train").rglob("shard-*"))
    assert names == ["train/code/shard-00000.documents.parquet", "train/code/shard-00000.safetensors"]


def test_full_disk_keeps_the_finished_shards(corpus, real_codec, tmp_path, monkeypatch):
    tokens = tmp_path / "tokens"
    calls = []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) >= 6:  # the first shard takes four: two files, each with its folder
            raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(DanluError, match="free some space"):
        build_tokens(real_codec, corpus, tokens)
    monkeypatch.undo()
    shards = sorted(tokens.rglob("shard-*.safetensors"))
    assert [path.name for path in shards] == ["shard-00000.safetensors"]
    verify_shard(shards[0])
    before = shards[0].stat().st_mtime_ns
    report = build_tokens(real_codec, corpus, tokens)
    assert shards[0].stat().st_mtime_ns == before
    assert not list(tokens.rglob(".tmp-*"))
    assert sum(row.shards_made for row in report.domains) == 4


def test_no_text(tmp_path, real_codec):
    (tmp_path / "corpus" / "train").mkdir(parents=True)
    with pytest.raises(InputError, match="no training text"):
        build_tokens(real_codec, tmp_path / "corpus", tmp_path / "tokens")


def test_same_bytes_every_time(corpus, real_codec, tmp_path):
    build_tokens(real_codec, corpus, tmp_path / "a")
    build_tokens(real_codec, corpus, tmp_path / "b")
    for path in (tmp_path / "a").rglob("shard-*.safetensors"):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()
