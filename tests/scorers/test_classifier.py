"""The step: which side drops, from where on, and what is loaded when."""

import math
import os

import pytest

from danlu.account.step import Step
from danlu.errors import MissingError
from danlu.scorers import classifier
from danlu.scorers.classifier import MEASURES, decide, forget_files, measure
from danlu.scorers.model_file import save_scorer
from danlu.scorers.settings import Classifier
from danlu.words.text import Text
from small_scorers import small_scorer


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    base = tmp_path_factory.mktemp("models")
    for side in ("keep", "drop"):
        save_scorer(base / f"{side}.safetensors", small_scorer(positive=side))
    return base


GOOD, BAD = Text("river night morning water village"), Text("login cart home search menu")


def outcome(text, settings):
    return decide(measure(text, settings).values, settings)


def test_the_card_says_which_side_drops(models):
    keeping = Classifier(model=str(models / "keep.safetensors"))
    assert outcome(GOOD, keeping) == ""
    assert outcome(BAD, keeping) == "below_score"
    dropping = Classifier(model=str(models / "drop.safetensors"))
    assert outcome(GOOD, dropping) == "above_score"
    assert outcome(BAD, dropping) == ""
    threshold = classifier.load(keeping.model).card.threshold.value
    assert decide((threshold,), keeping) == ""
    assert decide((math.nextafter(threshold, 0),), keeping) == "below_score"
    assert decide((threshold,), dropping) == "above_score"
    assert decide((math.nextafter(threshold, 0),), dropping) == ""


def test_the_recipe_goes_before_the_card(models):
    model = str(models / "drop.safetensors")
    assert outcome(GOOD, Classifier(model=model, min_score=0.0)) == ""
    assert outcome(BAD, Classifier(model=model, min_score=0.5)) == "below_score"
    both = Classifier(model=model, min_score=0.2, max_score=0.4)
    assert [decide((score,), both) for score in (0.1, 0.2, 0.4, 0.5)] == [
        "below_score",
        "",
        "",
        "above_score",
    ]


def test_what_was_measured(models):
    settings = Classifier(model=str(models / "keep.safetensors"))
    measured = measure(GOOD, settings)
    assert measured.text is GOOD
    assert len(measured.values) == len(MEASURES)
    for blank in ("", " \n"):
        (value,) = measure(Text(blank), settings).values
        assert math.isnan(value)
        assert decide((value,), settings) == ""


def test_stored_scores_answer_for_other_thresholds(models):
    step = Step("classifier_quality", Classifier(model=str(models / "keep.safetensors")), classifier)
    assert step.remeasure == {"use", "name", "model", "languages", "domains"}


def test_a_changed_file_is_read_anew(models, tmp_path):
    path = tmp_path / "a.safetensors"
    settings = Classifier(model=str(path))
    forget_files()
    with pytest.raises(MissingError, match=r"a\.safetensors does not exist"):
        measure(GOOD, settings)
    path.write_bytes((models / "keep.safetensors").read_bytes())
    assert outcome(BAD, settings) == "below_score"
    assert classifier.load(str(path)) is classifier.load(str(path))
    path.write_bytes((models / "drop.safetensors").read_bytes())
    os.utime(path, ns=(1, 1))
    assert outcome(BAD, settings) == ""
