"""Gopher's quality rules against the slow reference, and what each drops."""

import math
import re

import pytest
from hypothesis import given

import published_rules
from danlu.rules.gopher_quality import MEASURES, decide, measure
from danlu.rules.settings import GopherQuality
from danlu.words.text import Text

PLAIN = GopherQuality()
PROSE = "She went to the river and sat with her book, that old one, to have some rest. " * 5


def measures(text: str, settings: GopherQuality = PLAIN) -> dict[str, float]:
    values = measure(Text(text, words_setting="plain"), settings).values
    return {name: value for name, value in zip(MEASURES, values, strict=True) if not math.isnan(value)}


def reason(text: str, **settings: object) -> str:
    chosen = GopherQuality(**settings)
    return decide(measure(Text(text, words_setting="plain"), chosen).values, chosen)


@given(published_rules.TEXTS)
def test_measures_equal_the_slow_reference(text):
    assert measures(text) == published_rules.gopher_quality(text, text.split(), PLAIN.stop_words)


@pytest.mark.parametrize("text", published_rules.EDGES, ids=lambda text: repr(text)[:12])
def test_edges_equal_the_slow_reference(text):
    assert measures(text) == published_rules.gopher_quality(text, text.split(), PLAIN.stop_words)


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u3000\t"], ids=repr)
def test_without_words_no_ratio_breaks_a_rule(text):
    assert reason(text) == "short_doc"
    assert reason(text, min_doc_words=0) == "enough_stop_words"
    assert reason(text, min_doc_words=0, min_stop_words=0) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PROSE, ""),
        (PROSE[:100], "short_doc"),
        (PROSE + "of " * 100_000, "long_doc"),
        ("to be of a " * 20, "below_avg_threshold"),
        ("extraordinarily " * 50, "above_avg_threshold"),
        (PROSE + "# " * 20, "too_many_hashes"),
        (PROSE + "... " * 20, "too_many_ellipsis"),
        (PROSE.replace(". ", ".\n- ").replace("She", "- She", 1), "too_many_bullets"),
        (PROSE.replace("rest. ", "rest…\n"), "too_many_end_ellipsis"),
        (PROSE + "1234 " * 30, "below_alpha_threshold"),
        ("river under stars " * 20, "enough_stop_words"),
        (
            PROSE.replace("to", "To").replace("the", "The").replace("and", "And").replace("t", "T"),
            "enough_stop_words",
        ),
    ],
    ids=lambda value: value[:24],
)
def test_each_rule_has_its_reason(text, expected):
    assert reason(text) == expected


def test_a_measure_equal_to_its_threshold_keeps():
    values = [50, 3.0, 0.1, 0.1, 0.9, 0.3, 0.8, 2]
    assert decide(values, PLAIN) == ""


def test_stop_words_of_another_language():
    assert measures("la casa de la madre", GopherQuality(stop_words=["la", "de", "que"]))["stop_words"] == 2
    assert measures("the of", GopherQuality(stop_words=[]))["stop_words"] == 0


def test_a_stop_word_is_a_whole_word_and_long_ones_count():
    settings = GopherQuality(stop_words=["notwithstanding", "o"])
    assert measures("to of notwithstandin notwithstandings", settings)["stop_words"] == 0
    assert measures("o notwithstanding o", settings)["stop_words"] == 2


def test_formulae_are_neither_words_nor_symbols():
    text = "Let $a_1 + b_2 = c_3 # d_4$ be the sum."
    assert measures(text, GopherQuality(formulae=True)) == measures(re.sub(r"\$.*\$", "", text))
    assert measure(Text(text), GopherQuality(formulae=True)).text.text == text
    assert measures(text)["hash_word_ratio"] > 0


def test_the_text_stays_the_same_object():
    text = Text(PROSE)
    assert measure(text, PLAIN).text is text
