"""Training is deterministic, agrees with published merges, and says when the text cannot fill the vocabulary."""

import ast
import inspect
import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from danlu.errors import InputError
from danlu.tokenizer.codec import SPECIAL_TOKENS, Codec
from danlu.tokenizer.settings import TokenizerSettings
from danlu.tokenizer.train import adopt_tokenizer, train_tokenizer

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "byte_level_bpe.json").read_text(encoding="utf-8")
)
TEXT = inspect.getsource(ast)


def train(directory, texts, **settings):
    return train_tokenizer(TokenizerSettings(**settings), lambda: iter(texts), directory)


def test_golden_merges_and_ids(tmp_path):
    texts = [GOLDEN["corpus"]] * GOLDEN["repeat"]
    shift = len(SPECIAL_TOKENS) - 1  # the golden file has one special token
    report = train(tmp_path, texts, vocab_size=GOLDEN["vocab_size"] + shift, pretokenizer="gpt2")
    merges = json.loads(report.path.read_text(encoding="utf-8"))["model"]["merges"]
    assert merges == GOLDEN["merges"]
    codec = Codec.load(report.path)
    for text, ids in GOLDEN["encode"].items():
        assert codec.encode(text) == [number + shift for number in ids]


def test_whole_byte_alphabet(trained):
    vocab = Tokenizer.from_file(str(trained.path)).get_vocab()
    assert set(GOLDEN["alphabet"].values()) <= vocab.keys()
    assert [vocab[name] for name in SPECIAL_TOKENS] == [0, 1, 2]


def test_order_of_texts_does_not_matter(tmp_path):
    texts = TEXT.split("\n\n")
    one = train(tmp_path / "a", texts, vocab_size=500)
    two = train(tmp_path / "b", texts[::-1], vocab_size=500)
    assert one.sha256 == two.sha256
    assert (one.sample_bytes, one.sample_documents) == (len("".join(texts).encode()), len(texts))


def test_vocabulary_larger_than_the_text_allows(tmp_path):
    report = train(tmp_path, ["abab abab"], vocab_size=10_000)
    assert report.vocab_size == Codec.load(report.path).vocab_size < 270
    assert "10000 was lowered to" in report.reason
    assert train(tmp_path, [TEXT], vocab_size=300).reason is None


def test_no_text(tmp_path):
    with pytest.raises(InputError, match="no text"):
        train(tmp_path, [])
    assert not list(tmp_path.iterdir())


def test_plain_users_of_the_file_get_bos(trained):
    ids = Tokenizer.from_file(str(trained.path)).encode("x = 1").ids
    assert ids[0] == 0
    assert ids[1:] == Codec.load(trained.path).encode("x = 1")


def test_adopt_copies_byte_for_byte(trained, tmp_path):
    report = adopt_tokenizer(TokenizerSettings(), trained.path, tmp_path)
    assert report.path.read_bytes() == trained.path.read_bytes()
    assert (report.vocab_size, report.reason) == (400, None)


def test_adopt_refuses_a_lossy_alphabet(trained, tmp_path):
    description = json.loads(trained.path.read_text(encoding="utf-8"))
    del description["model"]["vocab"]["Ą"]
    given = tmp_path / "given.json"
    given.write_text(json.dumps(description))
    with pytest.raises(InputError, match="1 of the 256 bytes"):
        adopt_tokenizer(TokenizerSettings(), given, tmp_path / "out")
    assert not (tmp_path / "out").exists()
