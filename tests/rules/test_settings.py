"""The rules' keys: what they refuse, and that no step is without its three names."""

import math

import pytest
from pydantic import ValidationError

from danlu.rules import c4, cjk, code, fineweb, gopher_quality, gopher_repetition, refinedweb, science, url
from danlu.rules.settings import (
    C4,
    Cjk,
    Code,
    FineWeb,
    GopherQuality,
    GopherRepetition,
    RefinedWeb,
    Science,
    Url,
)
from danlu.words.text import Text

STEPS = [
    (gopher_quality, GopherQuality),
    (gopher_repetition, GopherRepetition),
    (c4, C4),
    (fineweb, FineWeb),
    (refinedweb, RefinedWeb),
    (code, Code),
    (cjk, Cjk),
    (science, Science),
    (url, Url),
]
TEXTS = [
    "",
    "\n",
    "word",
    "一段中文。",
    "\ud800\0 \r\n",
    "The cat sat on the mat, and it was a good mat. " * 20,
]
PROSE = "\n\n".join(
    f"{first} of the {second} is {first} to the {second}. All that {second}s have is {second} and {first}."
    for first, second in zip(
        ["one", "two", "three", "four", "five"], ["cat", "dog", "cow", "hen", "fox"], strict=True
    )
)
KEPT = {
    **dict.fromkeys((GopherQuality, GopherRepetition, C4, FineWeb, RefinedWeb, Code), Text(PROSE)),
    Cjk: Text("，".join("".join(map(chr, range(first, first + 50))) for first in range(0x4E00, 0x4EC8, 50))),
    Science: Text("\n\n".join(" ".join(chr(97 + n) * k for k in range(1, 40)) for n in range(15))),
    Url: Text(PROSE, metadata={"url": "https://example.org/salt"}),
}


@pytest.mark.parametrize(("step", "section"), STEPS, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_every_step_measures_as_many_values_as_it_names(step, section, text):
    settings = section()
    measured = step.measure(Text(text), settings)
    assert len(measured.values) == len(step.MEASURES) == len(set(step.MEASURES))
    assert all(type(value) is float for value in measured.values)
    assert isinstance(step.decide(measured.values, settings), str)
    assert settings.use == step.__name__.rpartition(".")[2]


@pytest.mark.parametrize(("step", "section"), STEPS, ids=lambda value: getattr(value, "__name__", ""))
def test_what_was_not_measured_keeps(step, section):
    assert step.decide([math.nan] * len(step.MEASURES), section()) == ""


@pytest.mark.parametrize(("step", "section"), STEPS, ids=lambda value: getattr(value, "__name__", ""))
def test_no_single_measure_of_a_kept_text_drops_it(step, section):
    values = step.measure(KEPT[section], section()).values
    assert step.decide(values, section()) == ""
    for place in range(len(values)):
        without = [math.nan if place == other else value for other, value in enumerate(values)]
        alone = [value if place == other else math.nan for other, value in enumerate(values)]
        assert step.decide(without, section()) == step.decide(alone, section()) == ""


@pytest.mark.parametrize(
    ("section", "values", "message"),
    [
        (RefinedWeb, {"max_consecutive_newlines": 0}, "greater than or equal to 1"),
        (RefinedWeb, {"max_uppercase_ratio": 1.5}, "less than or equal to 1"),
        (Code, {"max_line_lenght": 9}, "Extra inputs"),
        (Cjk, {"min_characters": -1}, "greater than or equal to 0"),
        (Science, {"max_top_word_share": 2}, "less than or equal to 1"),
        (Url, {"missing": "maybe"}, "'keep' or 'drop'"),
        (Url, {"min_soft_words": 0}, "greater than or equal to 1"),
        (Url, {"domain_lists": "domains.txt"}, "valid list"),
    ],
)
def test_refuses_what_cannot_be_meant(section, values, message):
    with pytest.raises(ValidationError, match=message):
        section(**values)
