"""C4's rules against the slow reference: which lines stay, what is counted, what drops the page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import published_rules
from danlu.rules.c4 import MEASURES, decide, measure
from danlu.rules.settings import C4
from danlu.words.text import Text

SENTENCES = (
    "The first one is here. The second is here! Is the third one here? It is the fourth. This ends it."
)


def run(text: str, **settings: object) -> tuple[dict[str, float], str, str]:
    """The measures, the text that is left, the reason."""
    chosen = C4(**settings)
    left, values = measure(Text(text, words_setting="plain"), chosen)
    return dict(zip(MEASURES, values, strict=True)), left.text, decide(values, chosen)


def compare(text: str, settings: C4) -> None:
    left, values = measure(Text(text, words_setting="plain"), settings)
    expected, lines = published_rules.c4(
        text,
        long=settings.max_word_length,
        citations=settings.remove_citations,
        ended=settings.filter_no_terminal_punct,
        few=settings.min_words_per_line,
        javascript=settings.filter_javascript,
        policy=settings.filter_policy,
    )
    found = {name: value for name, value in zip(MEASURES[1:], values[1:], strict=True) if value}
    assert found == {name: value for name, value in expected.items() if value}
    assert left.text == "\n".join(lines).strip()


SETTINGS = st.builds(
    C4,
    max_word_length=st.sampled_from([0, 3, 1000]),
    remove_citations=st.booleans(),
    filter_no_terminal_punct=st.booleans(),
    min_words_per_line=st.sampled_from([0, 1, 3]),
    filter_javascript=st.booleans(),
    filter_policy=st.booleans(),
)


@given(published_rules.TEXTS, SETTINGS)
def test_lines_and_counts_equal_the_slow_reference(text, settings):
    compare(text, settings)


@pytest.mark.parametrize("text", published_rules.EDGES, ids=lambda text: repr(text)[:12])
def test_edges_equal_the_slow_reference(text):
    compare(text, C4())
    compare(text, C4(filter_no_terminal_punct=False, min_words_per_line=0, max_word_length=10**6))


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u3000"], ids=repr)
def test_without_lines_there_are_no_sentences(text):
    measures, left, reason = run(text)
    assert (measures["sentences"], left, reason) == (0, "", "too_few_sentences")


@pytest.mark.parametrize(
    ("text", "settings", "expected"),
    [
        (SENTENCES, {}, ""),
        (SENTENCES[:40], {}, "too_few_sentences"),
        (SENTENCES[:40], {"min_num_sentences": 0}, ""),
        (f"{SENTENCES}\nThis is Lorem Ipsum text.", {}, "lorem_ipsum"),
        (f"{SENTENCES}\nThis is Lorem Ipsum text.", {"filter_lorem_ipsum": False}, ""),
        (f"{SENTENCES}\nif (a) {{ b.", {}, "curly_bracket"),
        (f"{SENTENCES}\nif (a) {{ b.", {"filter_curly_bracket": False}, ""),
        (f"{SENTENCES}\nif (a) {{ b", {}, ""),
        (f"{SENTENCES}\nif (a) {{ b", {"filter_no_terminal_punct": False}, "curly_bracket"),
        (f"One {{ two three.\nHere is lorem ipsum.\n{SENTENCES}", {}, "curly_bracket"),
        (f"One {{ lorem ipsum three.\n{SENTENCES}", {}, "lorem_ipsum"),
        (f"Enable JavaScript {{ please.\n{SENTENCES}", {}, ""),
    ],
    ids=lambda value: repr(value)[-24:],
)
def test_what_drops_a_page(text, settings, expected):
    assert run(text, **settings)[2] == expected


def test_thresholds_are_tried_again_on_the_same_measures():
    values = measure(Text(f"One {{ two.\n{SENTENCES}"), C4()).values
    assert decide(values, C4()) == "curly_bracket"
    assert decide(values, C4(filter_curly_bracket=False)) == ""
    assert decide(values, C4(filter_curly_bracket=False, min_num_sentences=9)) == "too_few_sentences"


def test_an_untouched_text_stays_the_same_object_and_a_rewritten_one_keeps_its_language():
    text = Text(SENTENCES, language="en", words_setting="plain")
    assert measure(text, C4()).text is text
    left = measure(Text(f"Menu\r\n{SENTENCES}[1]\0.", language="en"), C4()).text
    assert (left.text, left.language) == (f"{SENTENCES}\0.", "en")


def test_brackets_of_formulae_are_left_alone_and_display_lines_stay():
    text = f"{SENTENCES}\nHence $x_{{1}} = y[1]$ holds [2].\n$$\n\\frac{{a}}{{b}}\n$$\nThe end is here."
    assert run(text)[2] == "curly_bracket"
    measures, left, reason = run(text, formulae=True)
    assert left == text.replace(" [2]", " ")
    assert reason == ""
    assert measures["kept_lines"] == 6
    assert (
        measures["sentences"]
        == run(text.replace("$$\n\\frac{a}{b}\n$$\n", ""), formulae=True)[0]["sentences"]
    )
    assert run(f"{text}\nBut not {{ this.", formulae=True)[2] == "curly_bracket"
