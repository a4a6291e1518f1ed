"""The step: which model, which bucket, what is kept, what is not measured."""

import math

import pytest

from danlu.errors import InputError, MismatchError, MissingError
from danlu.lm import perplexity
from danlu.lm.card import card_path, read_card
from danlu.lm.query import load_model, text_perplexity
from danlu.lm.settings import Perplexity
from danlu.lm.tokens import cut
from danlu.lm.train import train_lm
from danlu.words.text import Text, encode
from small_models import sentences


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("lm") / "en.arpa"
    train_lm(("\n".join(sentences(4, seed)) for seed in range(200)), path, order=3, held_out_share=0.2)
    return path


def outcome(text, language="en", **settings):
    rules = Perplexity(**settings)
    document = Text(text, language)
    measured = perplexity.measure(document, rules)
    assert measured.text is document
    return perplexity.decide(measured.values, rules), measured.values


def test_values_are_those_of_the_model_and_buckets_those_of_the_card(model):
    card, loaded = read_card(model), load_model(model)
    seen = set()
    for seed in range(300, 360):
        text = "\n".join(sentences(3, seed))
        reason, (value, bucket) = outcome(text, models={"en": str(model)})
        assert reason == ""
        assert value == text_perplexity(loaded, cut(encode(text), "words"))
        assert bucket == (value >= card.percentile(0.3)) + (value >= card.percentile(0.6))
        seen.add(bucket)
    assert seen == {0.0, 1.0, 2.0}


def test_buckets_are_kept_by_name(model):
    text = "\n".join(sentences(3, 400))
    _, (value, _) = outcome(text, models={"en": str(model)})
    for name, cutoffs in {
        "head": [value + 1, value + 2],
        "middle": [value, value + 1],
        "tail": [value - 1, value],
    }.items():
        given = {"models": {"en": str(model)}, "cutoffs": {"en": cutoffs}}
        assert outcome(text, **given, keep=[name])[0] == ""
        others = [other for other in ("head", "middle", "tail") if other != name]
        assert outcome(text, **given, keep=others)[0] == name
        given["cutoffs"] = {"*": cutoffs}
        assert outcome(text, **given, keep=others)[0] == name


def test_the_largest_perplexity(model):
    text = sentences(1, 400)[0]
    value = outcome(text, models={"en": str(model)})[1][0]
    assert outcome(text, models={"en": str(model)}, max_perplexity=value)[0] == ""
    assert outcome(text, models={"en": str(model)}, max_perplexity=value * 0.99)[0] == "too_perplexing"


def test_documents_without_a_model_or_words_are_not_measured_and_kept(model):
    strict = {"keep": ["head"], "max_perplexity": 1.01}
    for text, language in [("w1 w2", "de"), ("w1 w2", ""), ("", "en"), (" \n ", "en")]:
        reason, values = outcome(text, language, models={"en": str(model)}, **strict)
        assert reason == ""
        assert all(map(math.isnan, values))
    assert not math.isnan(outcome("w1", "de", models={"*": str(model)})[1][0])
    assert not math.isnan(outcome("w1", "", models={"*": str(model)})[1][0])


@pytest.mark.parametrize("text", ["a", "字", "👍", "\ud800", "a\0b", "a\r\nb", "x " * 10_000])
def test_odd_texts_have_a_perplexity(model, text):
    value, bucket = outcome(text, models={"en": str(model)})[1]
    assert value > 1
    assert bucket in (0, 1, 2)


def test_a_model_without_a_card_has_no_buckets(model, tmp_path):
    bare = tmp_path / "bare.arpa"
    bare.write_bytes(model.read_bytes())
    value, bucket = outcome("w1 W2", models={"en": str(bare)})[1]
    assert value == text_perplexity(load_model(model), cut(encode("w1 W2"), "spaces"))
    assert math.isnan(bucket)
    with pytest.raises(InputError, match=r"it has no card.*cutoffs.en"):
        outcome("w1", models={"en": str(bare)}, keep=["head"])
    lower = outcome("w1 W2", models={"en": str(bare)}, tokens="words")[1][0]
    assert lower == text_perplexity(load_model(model), cut(encode("w1 w2"), "words"))


def test_a_card_without_held_out_documents_has_no_buckets(tmp_path):
    path = tmp_path / "m.arpa"
    train_lm(sentences(5), path, held_out_share=0.0)
    with pytest.raises(InputError, match="no held-out documents"):
        outcome("w1", models={"en": str(path)}, keep=["head"])


def test_models_that_cannot_be_used_are_named(model, tmp_path):
    with pytest.raises(MissingError, match=r"perplexity\.models: .*none"):
        outcome("a", models={"en": str(tmp_path / "none")})
    other = tmp_path / "other.arpa"
    other.write_bytes(model.read_bytes() + b"\n")
    card_path(other).write_bytes(card_path(model).read_bytes())
    with pytest.raises(MismatchError, match="train again"):
        outcome("a", models={"en": str(other)})


def test_a_changed_model_is_read_anew(tmp_path):
    path = tmp_path / "m.arpa"
    train_lm(["a b c"] * 3, path, held_out_share=0.0)
    before = outcome("a b c", models={"en": str(path)})[1][0]
    train_lm(["x y z"] * 3, path, held_out_share=0.0)
    assert outcome("a b c", models={"en": str(path)})[1][0] != before
    perplexity.forget_files()
    assert perplexity._load_version.cache_info().currsize == 0


def test_stored_values_decide_again():
    rules = Perplexity(models={"en": "m"}, keep=["head"], max_perplexity=500.0)
    assert perplexity.decide((100.0, 0.0), rules) == ""
    assert perplexity.decide((100.0, 2.0), rules) == "tail"
    assert perplexity.decide((501.0, 0.0), rules) == "too_perplexing"
    assert perplexity.decide((math.nan, math.nan), rules) == ""
    assert perplexity.decide((1e9, 1e9), Perplexity(models={"en": "m"})) == ""
