"""A step decides by its own module; deduplication by none; what was not measured is kept."""

import math

from danlu.account.step import Step
from danlu.config import Section
from small_ledger import Loud, Wordy, module, steps_of

VISIBLE, WORDY, LOUD, SAME = steps_of()


def test_a_text_of_which_nothing_is_left_is_dropped_whatever_the_measures_say():
    assert WORDY.reason((5.0, 4.0), math.inf) == "wordy.nothing_left"
    assert WORDY.reason((1.0, 4.0), math.inf) == "wordy.few_words"
    assert WORDY.reason((math.nan, math.nan), math.inf) == ""
    assert WORDY.reason((5.0, 4.0), 7.0) == ""


def test_names_and_columns():
    assert [step.name for step in steps_of()] == ["visible", "wordy", "loud", "same"]
    assert WORDY.columns == ["wordy.words", "wordy.mean_length"]
    assert SAME.columns == []


def test_keys_that_decide_does_not_look_at_need_the_texts():
    assert WORDY.remeasure == {"use", "lower"}
    assert LOUD.remeasure == {"use"}
    assert SAME.remeasure == {"use", "keep"}


class Both(Section):
    use: str = "both"
    limit: float = 0.5
    marks: bool = False
    text_limit: float = 0.7


def test_a_key_that_is_measured_with_too_is_listed():
    def decide(values, settings):
        share, is_text = values
        if settings.marks and share > 0.9:
            return "marks"
        return "share" if share > (settings.text_limit if is_text else settings.limit) else ""

    names = {"MEASURES": ("share", "is_text"), "decide": decide}
    assert Step("both", Both(), module("both", **names)).remeasure == {"use"}
    listed = module("both", REMEASURE=frozenset({"marks"}), **names)
    assert Step("both", Both(), listed).remeasure == {"use", "marks"}


def test_reasons():
    assert WORDY.reason((2.0, 3.0)) == "wordy.few_words"
    assert WORDY.reason((4.0, 3.0)) == ""
    assert WORDY.reason((math.nan, 1.0)) == "wordy.short_words"
    assert LOUD.reason((math.nan,)) == SAME.reason(()) == ""


def test_one_measure_alone():
    assert WORDY.reason_of_one(0, 2.0) == "few_words"
    assert WORDY.reason_of_one(1, 2.0) == ""
    assert WORDY.reason_of_one(0, 2.0, Wordy(min_words=2)) == ""
    assert LOUD.reason_of_one(0, 0.75, Loud(max_upper_share=0.7)) == "upper"
