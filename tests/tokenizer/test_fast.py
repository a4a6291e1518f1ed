"""The package agrees, or is not used; a difference that comes later is an error."""

import subprocess
import sys

import numpy as np
import pytest

from danlu.errors import MismatchError
from danlu.tokenizer.codec import PROBES, Codec
from danlu.tokenizer.fast import FastEncoder, _first
from small_tokenizers import KINDS, TEXT, train

fastokens = pytest.importorskip("fastokens")

NASTY = [*PROBES, TEXT, " " * 10_000, "好" * 5000, "\n".join(PROBES) * 50]


class Odd:
    """A package that loses the last id of texts with a sign."""

    def __init__(self, package, sign):
        self._package, self._sign = package, sign

    def encode_batch_flat(self, texts, **keys):
        cut = [text[:-1] if self._sign in text else text for text in texts]
        return self._package.encode_batch_flat(cut, **keys)


def reference_of(codec):
    return lambda texts: [codec.encode(text) for text in texts]


@pytest.mark.parametrize("name", ["byte_bpe", "bpe"])
def test_same_ids(tmp_path, name):
    made = train(tmp_path, [TEXT], vocab_size=700, **KINDS[name])
    codec = Codec.load(made.path)
    for texts in (NASTY, NASTY[:1], [""], [], TEXT.splitlines()):
        documents = codec.encode_documents(texts)
        assert [ids.tolist() for ids in documents] == [[0, *codec.encode(text), 1] for text in texts]
        assert all(ids.dtype == np.uint32 for ids in documents)
    assert isinstance(codec._fast, FastEncoder)


@pytest.mark.parametrize("name", ["wordpiece", "unigram", "char"])
def test_a_kind_that_it_reads_otherwise_or_not_at_all_is_said(tmp_path, name, capsys):
    """It knows neither Unigram nor BERT's words, and without pre-tokens a name in a text becomes the special token."""
    codec = Codec.load(train(tmp_path, [TEXT], vocab_size=700, **KINDS[name]).path)
    capsys.readouterr()
    for _ in range(2):
        (document,) = codec.encode_documents([TEXT])
    assert document.tolist() == [0, *codec.encode(TEXT), 1]
    assert capsys.readouterr().err.count("fastokens is not used") == 1


def test_a_difference_in_the_first_texts_leaves_it_unused(codec, trained, monkeypatch, capsys):
    data = trained.path.read_text()
    package = fastokens.Tokenizer.from_json_str(data)

    class Package:
        @staticmethod
        def from_json_str(_):
            return Odd(package, "☃")

    monkeypatch.setattr(fastokens, "Tokenizer", Package)
    assert FastEncoder.make(data, reference_of(codec), PROBES, ["fine", "a ☃"]) is None
    assert "☃" in capsys.readouterr().err
    fast = FastEncoder.make(data, reference_of(codec), PROBES, ["fine"])
    assert [ids.tolist() for ids in fast.encode(["ab"])] == [codec.encode("ab")]
    with pytest.raises(MismatchError, match="build them again"):
        fast.encode(["longer than that", "a ☃"])


def test_without_the_package(codec, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastokens", None)
    assert FastEncoder.make("{}", reference_of(codec), PROBES, []) is None


def test_the_check_reads_a_bounded_part():
    assert _first(["ab", "cdef", "gh"], 4) == ["ab", "cd"]
    assert _first([], 4) == []


def test_loading_a_codec_does_not_load_the_package():
    script = "import sys, danlu.tokenizer.codec; sys.exit('fastokens' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
