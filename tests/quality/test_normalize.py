"""Normal form: what changes, what stays, what is dropped."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.quality.normalize import normalize
from danlu.quality.settings import Normalize
from danlu.quality.verdict import Dropped, Kept

LOOSE = Normalize(max_replacement_share=1.0)


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
    assert normalize(text, Normalize()) == Kept(expected)


def test_lone_surrogates_become_replacement_characters():
    assert normalize("a\ud800", LOOSE) == Kept("a\ufffd")


def test_unicode_may_be_left_alone():
    assert normalize("e\u0301", Normalize(unicode="none")) == Kept("e\u0301")


@pytest.mark.parametrize("text", ["", " \n\t", "\0\0"])
def test_nothing_left_is_dropped(text):
    assert normalize(text, Normalize()) == Dropped("normalize.empty")


def test_a_badly_decoded_text_is_dropped_above_the_share():
    assert normalize("\ufffd" + "a" * 999, Normalize()) == Kept("\ufffd" + "a" * 999)
    assert normalize("\ufffd" + "a" * 998, Normalize()) == Dropped("normalize.replacement_characters")


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
    verdict = normalize(text, LOOSE)
    if expected and not expected.isspace():
        assert verdict == Kept(expected)
        assert normalize(expected, LOOSE) == verdict
    else:
        assert verdict == Dropped("normalize.empty")


@given(st.text(st.characters(codec="utf-8")) | st.text("\x1b[3m\r\n\0;", max_size=12))
def test_twice_is_once(text):
    once = normalize(text, LOOSE)
    if isinstance(once, Kept):
        assert normalize(once.text, LOOSE) == once
