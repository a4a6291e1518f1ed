"""The tables of scorers and word lists, and what a training is asked for."""

import pytest
from pydantic import ValidationError

from danlu.scorers.settings import Classifier, Features, Keywords, Training, Transformer


@pytest.mark.parametrize(
    ("section", "keys", "said"),
    [
        (Classifier, {"model": "m", "min_score": 0.6, "max_score": 0.5}, "min_score is above max_score"),
        (Classifier, {}, "model"),
        (Classifier, {"model": "m", "name": "Two words"}, "name"),
        (Keywords, {"lists": {}}, "lists"),
        (Keywords, {"lists": {"en": "f"}, "max_share": 1.5}, "max_share"),
        (Features, {"min_characters": 5, "max_characters": 4}, "min_characters is above max_characters"),
        (Features, {"word_ngram": 0, "max_characters": 0}, "leave nothing"),
        (Training, {"precision": 0.9, "recall": 0.9}, "give one of them"),
        (Training, {"held_out": 0.0}, "held_out"),
        (Training, {"cutoff": 2.0}, 'cutoff has no effect without scale = "0-5"'),
    ],
)
def test_what_has_no_meaning_is_refused(section, keys, said):
    with pytest.raises(ValidationError, match=said):
        section(**keys)


def test_defaults_are_the_published_ones():
    features = Features()
    assert (features.word_ngram, features.min_characters, features.max_characters) == (2, 3, 6)
    assert Training().cutoff == 3.0
    assert Training(scale="0-5", cutoff=2.0).cutoff == 2.0
    assert Training(memory="2G").memory == 2_000_000_000


def test_the_steps_files_are_named():
    assert Classifier.PATHS == ("model",)
    assert Keywords.PATHS == ("lists",)


def test_a_transformer_drops_nothing_by_default():
    settings = Transformer(model="models/education")
    assert (settings.min_score, settings.max_score) == (None, None)
    assert (settings.max_tokens, settings.windows) == (512, 1)


@pytest.mark.parametrize(
    "keys",
    [
        {"model": ""},
        {},
        {"model": "m", "name": "Two words"},
        {"model": "m", "max_tokens": 2},
        {"model": "m", "batch": 0},
        {"model": "m", "min_score": float("nan")},
        {"model": "m", "trust_remote_code": True},
    ],
    ids=str,
)
def test_a_transformer_that_cannot_be_is_refused(keys):
    with pytest.raises(ValidationError):
        Transformer(**keys)


def test_thresholds_of_a_transformer_stand_in_order():
    with pytest.raises(ValidationError, match="min_score is above max_score"):
        Transformer(model="m", min_score=3.0, max_score=2.0)
    assert Transformer(model="m", min_score=3.0, max_score=3.0).min_score == 3.0
