"""The package agrees, or is not used; a difference that comes later is found, said, and ends its use."""

import json
import random
import subprocess
import sys

import numpy as np
import pytest
from tokenizers import Tokenizer

from danlu.tokenizer import encoder as module
from danlu.tokenizer.codec import PROBES, Codec
from danlu.tokenizer.encoder import COMPARED_FIRST, ONE_IN, Encoder
from small_tokenizers import KINDS, TEXT, train

fastokens = pytest.importorskip("fastokens")

NASTY = [*PROBES, TEXT, " " * 10_000, "好" * 5000, "\n".join(PROBES) * 50, "x" * 40_000]


class Odd:
    """A package that loses the last id of texts with a sign, or cannot read them."""

    def __init__(self, package, sign, error=None):
        self._package, self._sign, self._error = package, sign, error
        self.calls = 0

    def encode_batch_flat(self, texts, **keys):
        self.calls += 1
        if self._error and any(self._sign in text for text in texts):
            raise ValueError(self._error)
        cut = [text[:-1] if self._sign in text else text for text in texts]
        return self._package.encode_batch_flat(cut, **keys)


@pytest.fixture
def odd(trained, monkeypatch):
    """Encoders with the package made odd, and that package."""
    data = trained.path.read_bytes()

    def make(sign, error=None, first=0):
        package = Odd(fastokens.Tokenizer.from_json_str(data.decode()), sign, error)

        class Package:
            @staticmethod
            def from_json_str(_):
                return package

        monkeypatch.setattr(fastokens, "Tokenizer", Package)
        monkeypatch.setattr(module, "COMPARED_FIRST", first)
        return Encoder(Tokenizer.from_buffer(data), json.loads(data), PROBES), package

    return make


def lists(arrays):
    return [array.tolist() for array in arrays]


@pytest.mark.parametrize("name", ["byte_bpe", "bpe"])
def test_same_ids(tmp_path, name):
    made = train(tmp_path, [TEXT], vocab_size=700, **KINDS[name])
    codec = Codec.load(made.path)
    assert codec._encoder.by == "tokenizers"
    for texts in (NASTY, NASTY[:1], [""], [], TEXT.splitlines(), [TEXT * 9]):
        documents = codec.encode_documents(texts)
        assert lists(documents) == [[0, *codec.encode(text), 1] for text in texts]
        assert all(ids.dtype == np.uint32 for ids in documents)
    assert codec._encoder.by == "fastokens"
    assert codec._encoder.differed == 0


@pytest.mark.parametrize("name", ["wordpiece", "unigram", "char"])
def test_a_kind_that_it_reads_otherwise_or_not_at_all_is_said(tmp_path, name, capsys):
    """It knows neither Unigram nor BERT's words, and without pre-tokens a name in a text becomes the special token."""
    codec = Codec.load(train(tmp_path, [TEXT], vocab_size=700, **KINDS[name]).path)
    capsys.readouterr()
    for _ in range(2):
        (document,) = codec.encode_documents([TEXT])
    assert document.tolist() == [0, *codec.encode(TEXT), 1]
    assert codec._encoder.by == "tokenizers"
    assert capsys.readouterr().err.count("fastokens is not used") == 1


def test_a_file_that_asks_for_cut_and_padded_texts_gets_them_whole(trained):
    description = json.loads(trained.path.read_bytes())
    description["truncation"] = {
        "direction": "Right",
        "max_length": 2,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    codec = Codec.from_bytes(json.dumps(description).encode(), "cutting")
    assert lists(codec.encode_documents([TEXT])) == [[0, *codec.encode(TEXT), 1]]
    assert codec._encoder.by == "fastokens"


@pytest.mark.parametrize("error", [None, "no such sign"])
def test_a_difference_in_the_first_texts_leaves_it_unused(codec, odd, error, capsys):
    encoder, _ = odd("☃", error, first=COMPARED_FIRST)
    texts = ["fine", "so far all is well, and then a ☃"]
    encoder.compare_first(texts)
    assert encoder.by == "tokenizers"
    assert lists(encoder.encode(texts)) == [codec.encode(text) for text in texts]
    said = capsys.readouterr().err
    assert (error or "then a ☃") in said
    assert said.count("\n") == 1


def test_the_first_texts_are_compared_up_to_a_size_over_several_calls(odd):
    encoder, package = odd("☃", first=100)
    for text, compared in (("a" * 60, 1), ("", 1), ("b" * 60, 2), ("a ☃", 2)):
        encoder.compare_first([text])
        assert encoder.compared == len(encoder._probes) + compared
    assert encoder.by == "fastokens"
    assert package.calls == 1 + 2


def test_rare_errors_are_found_later_said_once_and_end_its_use(codec, odd, capsys):
    """One text in twenty is read wrongly: soon one of them is chosen, and from that call on every id is right."""
    encoder, package = odd("☃")
    draw = random.Random(7)
    calls = [
        [f"text {draw.random()} of {draw.random()}" + " and a ☃" * (draw.random() < 0.05) for _ in range(500)]
        for _ in range(60)
    ]
    wrong = []
    for texts in calls:
        encoder.compare_first(texts)
        marked = [(ids, text) for ids, text in zip(encoder.encode(texts), texts, strict=True) if "☃" in text]
        wrong.append(sum(ids.tolist() != codec.encode(text) for ids, text in marked))
    last = max(i for i, count in enumerate(wrong) if count)
    assert last < len(calls) - 1
    assert all(count for count in wrong[: last + 1])
    assert encoder.by == "tokenizers"
    assert encoder.differed >= 1
    assert encoder.encoded == 500 * (last + 1)
    said = capsys.readouterr().err
    assert said.count("not used from here on") == 1
    assert "a ☃" in said
    assert f"{encoder.encoded:,} pieces" in said
    before = package.calls
    encoder.compare_first(["a ☃"])
    assert lists(encoder.encode(["a ☃"])) == [codec.encode("a ☃")]
    assert package.calls == before


def test_what_is_chosen_depends_on_the_piece_alone(odd):
    """The same pieces, in calls of other sizes and in another order, are compared as often."""
    texts = [f"text {i} of many" for i in range(3000)]
    counts = set()
    for ordered, size in ((texts, 7), (texts, 1000), (texts[::-1], 3000)):
        encoder, _ = odd("☃")
        encoder.compare_first([])
        for start in range(0, len(ordered), size):
            encoder.encode(ordered[start : start + size])
        counts.add(encoder.compared - len(encoder._probes))
    (count,) = counts
    assert 3000 / ONE_IN / 3 < count < 3000 / ONE_IN * 3


@pytest.mark.parametrize("line", ["a line {} with a ☃\n", "no place to cut {} ☃ "], ids=["lines", "none"])
def test_a_rare_error_inside_long_texts_is_found(codec, odd, line):
    """Long texts are compared in pieces, those that can be cut nowhere too."""
    encoder, _ = odd("☃")
    for number in range(100):
        text = "".join(line.format(i + number * 10_000) for i in range(8000))
        encoder.compare_first([text])
        (ids,) = encoder.encode([text])
        if encoder.by == "tokenizers":
            break
    assert encoder.differed == 1
    assert ids.tolist() == codec.encode(text)


def test_what_the_package_cannot_read_later_is_said_too(codec, odd, capsys):
    encoder, _ = odd("☃", "too odd")
    encoder.compare_first(["fine"])
    assert len(encoder.encode(["fine"])) == 1
    assert lists(encoder.encode(["a", "a ☃"])) == [codec.encode("a"), codec.encode("a ☃")]
    assert "too odd" in capsys.readouterr().err
    assert encoder.by == "tokenizers"


def test_without_the_package(codec, trained, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "fastokens", None)
    mine = Codec.load(trained.path)
    for texts in ([], NASTY):
        assert lists(mine.encode_documents(texts)) == [[0, *codec.encode(text), 1] for text in texts]
    assert mine._encoder.by == "tokenizers"
    assert capsys.readouterr().err == ""


def test_loading_a_codec_does_not_load_the_package():
    script = "import sys, danlu.tokenizer.codec; sys.exit('fastokens' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
