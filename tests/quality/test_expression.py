"""Conditions over quality signals: kept, dropped, and judged again from what was stored."""

import math

import numpy as np
import pytest

from danlu.quality import expression
from danlu.quality.settings import SIGNALS, Expression
from danlu.words.text import Text

KEEP = "word_count > 5 and mean_word_length < 10 and language == 'en'"
SENTENCE = "The river had risen in the night, and by the morning the field was under water."


def outcome(text, language="en", keep=KEEP, **settings):
    rules = Expression(keep=keep, **settings)
    return expression.decide(expression.measure(Text(text, language), rules).values, rules)


def test_kept_and_dropped():
    assert outcome(SENTENCE) == ""
    assert outcome("Too short.") == "false"
    assert outcome(SENTENCE, "de") == "false"
    assert outcome("") == "false"
    assert outcome(SENTENCE, "de", reason="not_mine") == "not_mine"


def test_only_the_named_signals_are_measured():
    values = dict(
        zip(
            expression.MEASURES, expression.measure(Text(SENTENCE), Expression(keep=KEEP)).values, strict=True
        )
    )
    measured = [name for name, value in values.items() if not math.isnan(value)]
    assert measured == ["word_count", "mean_word_length", "language"]
    assert (*SIGNALS, "language") == expression.MEASURES


def test_stored_measures_may_be_judged_by_another_condition():
    values = expression.measure(Text(SENTENCE, "en"), Expression(keep=KEEP)).values
    stored = np.array(values, np.float32).astype(float).tolist()
    assert expression.decide(stored, Expression(keep="word_count > 100 and language == 'en'")) == "false"
    assert expression.decide(stored, Expression(keep="language in ('en', 'zho')")) == ""


def test_what_was_not_measured_keeps():
    assert outcome(SENTENCE, "xx", keep="stop_word_fraction > 0.9") == ""
    values = expression.measure(Text(SENTENCE, "en"), Expression(keep=KEEP)).values
    assert expression.decide(values, Expression(keep="curly_bracket > 1")) == ""


@pytest.mark.parametrize("language", ["", "en", "zh", "yue", "ceb"])
def test_a_language_survives_a_32_bit_float(language):
    number = expression.number_of(language)
    assert float(np.float32(number)) == number
    assert expression.language_of(number) == language


def test_a_language_is_compared_without_its_region():
    assert expression.language_of(expression.number_of("en-GB")) == "en"
    assert outcome(SENTENCE, "en-GB") == ""
