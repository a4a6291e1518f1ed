"""Normal form: what changes, what stays, what is dropped."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.quality.normalize import decide, measure, normalize
from danlu.quality.settings import Normalize
from danlu.words.text import Text

PLAIN = Normalize(repair=False)


def reason(text):
    return decide(measure(Text(text), Normalize()).values, Normalize())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("nul\0 bell\a form\f feed\x7f", "nul bell form feed"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("tab\tand  spaces \n stay ", "tab\tand  spaces \n stay "),
        ("\ufeffmark\ufffe", "mark"),
        ("e\u0301", "é"),
        ("ｆｕｌｌ 10²", "ｆｕｌｌ 10²"),
        ("👩\u200d🔬 می\u200cخواهم", "👩\u200d🔬 می\u200cخواهم"),
        ("c1\x85\x9f", "c1"),
    ],
)
def test_form(text, expected):
    assert normalize(text, Normalize()) == expected
    assert measure(Text(text), Normalize()).text.text == expected


def test_lone_surrogates_become_replacement_characters():
    assert normalize("a\ud800", Normalize()) == "a\ufffd"


def test_unicode_may_be_left_alone():
    assert normalize("e\u0301", Normalize(unicode="none")) == "e\u0301"


@pytest.mark.parametrize("text", ["", " \n\t", "\0\0"])
def test_nothing_left_is_dropped(text):
    assert reason(text) == "empty"


def test_a_badly_decoded_text_is_dropped_above_the_share():
    assert reason("\ufffd" + "a" * 999) == ""
    assert reason("\ufffd" + "a" * 998) == "replacement_characters"


def test_a_text_in_normal_form_goes_on_as_it_is():
    text = Text("Nothing to do, 文字.")
    assert measure(text, Normalize()).text is text


def normalize_slowly(text):
    """One character at a time."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = [
        character
        for character in text
        if character in "\t\n"
        or not (
            unicodedata.category(character) == "Cc"
            or character == "\ufeff"
            or ord(character) & 0xFFFE == 0xFFFE
        )
    ]
    return unicodedata.normalize("NFC", "".join(kept))


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x1b", max_codepoint=0xFDCF)))
def test_equals_the_slow_reference_and_is_idempotent(text):
    expected = normalize_slowly(text)
    assert normalize(text, PLAIN) == normalize(expected, PLAIN) == expected


@given(st.text(st.characters(codec="utf-8")) | st.text("\x1b[3m\r\n\0;", max_size=12))
def test_twice_is_once(text):
    once = normalize(text, Normalize())
    assert normalize(once, Normalize()) == once
