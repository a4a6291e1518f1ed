"""Every quality signal against its published definition, written out slowly."""

import math
import re
import string
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.quality import signals
from danlu.quality.settings import SIGNALS, Signals
from danlu.quality.signals import measure_signals, stop_words_of
from danlu.words.text import Text

PUNCTUATION = string.punctuation + "，。！？；：、（）《》〈〉「」『』【】〔〕·～％"


def normal(text):
    text = "".join(character for character in text if character not in PUNCTUATION).lower().strip()
    return unicodedata.normalize("NFD", re.sub(r"\s+", " ", text))


def ngrams(words, size):
    return [tuple(words[start : start + size]) for start in range(len(words) - size + 1)]


def top(words, size):
    grams = Counter(ngrams(words, size)).most_common(1)
    if not grams or grams[0][1] < 2:
        return 0.0
    return sum(map(len, grams[0][0])) * grams[0][1] / sum(map(len, words))


def duplicates(words, size):
    counts = Counter(ngrams(words, size))
    covered = set()
    for start, gram in enumerate(ngrams(words, size)):
        if counts[gram] > 1:
            covered |= set(range(start, start + size))
    return sum(len(words[index]) for index in covered) / sum(map(len, words)) if covered else 0.0


def share(items, test):
    items = list(items)
    return sum(bool(test(item)) for item in items) / len(items) if items else 0.0


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def over(part, whole):
    return part / len(whole) if whole else 0.0


def signals_slowly(text):
    """Of a text in English, with words between white space."""
    raw, words = text.split(), normal(text).split()
    lines = re.findall(r"[^\n]*\n|[^\n]+$", text)
    counts = Counter(words)
    stop_words = stop_words_of("en")
    symbols = text.count("#") + text.count("...") + text.count("…")
    return {
        "length": len(text),
        "nlines": len(lines),
        "word_count": len(words),
        "mean_word_length": mean(map(len, words)),
        "num_sentences": len(re.findall(r"\b[^.!?。！？]+[.!?。！？]*", text)),
        "symbol_to_word_ratio": over(symbols, raw),
        "frac_no_alph_words": share(raw, lambda word: not any(letter.isalpha() for letter in word)),
        "frac_all_caps_words": share(raw, str.isupper),
        "frac_unique_words": over(len(counts), words),
        "unigram_entropy": -sum(n / len(words) * math.log(n / len(words)) for n in counts.values()),
        "stop_word_fraction": share(words, lambda word: word in stop_words),
        "curly_bracket": over(sum(character in "{}" for character in text), text),
        "lorem_ipsum": over(len(re.findall("lorem ipsum", normal(text))), normal(text)),
        "frac_lines_end_with_ellipsis": share(lines, lambda line: line.rstrip().endswith(("...", "…"))),
        "frac_lines_ending_with_terminal_punctuation": share(
            lines, lambda line: line.rstrip().endswith((".", "!", "?", "”", "。", "！", "？"))
        ),
        "frac_lines_start_with_bulletpoint": share(
            lines, lambda line: line.lstrip()[:1] in set("•‣▶◀◦■□▪▫–")
        ),
        "javascript_counts": sum(word == "javascript" for line in lines for word in normal(line).split()),
        "mean_line_num_words": mean(len(normal(line).split()) for line in lines),
        "mean_line_uppercase_letter_fraction": mean(share(line, str.isupper) for line in lines),
        "mean_line_numerical_chars_fraction": mean(share(normal(line), str.isnumeric) for line in lines),
        **{f"frac_chars_top_{size}gram": top(words, size) for size in (2, 3, 4)},
        **{f"frac_chars_dupe_{size}grams": duplicates(words, size) for size in range(5, 11)},
    }


def found(text, language="en"):
    return dict(zip(SIGNALS, measure_signals(Text(text, language), SIGNALS), strict=True))


WORDS = st.sampled_from(
    [
        *(
            "the",
            "Cat",
            "sat",
            "ON",
            "mat.",
            "a-b",
            "{x}",
            "#1",
            "12",
            "½",
            "...",
            "wait…",
            "• it",
            "– so",
            "\n",
        ),
        *("\n\n", "Lorem ipsum", "JavaScript,", "naïve", "nai\u0308ve", "end!", "”", "\r\n", "\ud800", "\0"),
        *("x" * 40, "，好。"),
    ]
)


@given(st.lists(WORDS, max_size=60).map(" ".join) | st.text(max_size=60))
def test_as_defined(text):
    expected = signals_slowly(text)
    assert list(expected) == list(SIGNALS)
    assert found(text) == pytest.approx(expected)


@given(st.lists(st.sampled_from("ab"), max_size=60).map(" ".join))
def test_repeated_ngrams_as_defined(text):
    assert found(text) == pytest.approx(signals_slowly(text))


@pytest.mark.parametrize("text", ["", " \n\t ", "x", "one\n"])
def test_small_texts(text):
    assert found(text) == pytest.approx(signals_slowly(text))


def test_chinese_is_counted_by_character():
    values = found("我们在山上看见了桃花。我们很高兴！", "zh")
    assert values["word_count"] == 15
    assert values["mean_word_length"] == 1
    assert values["num_sentences"] == 2
    assert values["frac_chars_top_2gram"] == pytest.approx(4 / 15)
    assert values["frac_no_alph_words"] < 0.2
    assert values["frac_lines_ending_with_terminal_punctuation"] == 1
    assert 0 < values["stop_word_fraction"] < 0.7


def test_a_language_without_stop_words_has_no_share_of_them():
    assert math.isnan(found("the cat", "")["stop_word_fraction"])
    assert math.isnan(found("the cat", "xx")["stop_word_fraction"])
    assert found("", "en")["stop_word_fraction"] == 0


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "it", "pt", "ru", "zh", "ja"])
def test_stop_words_are_normalised(language):
    words = stop_words_of(language)
    assert len(words) > 30
    assert all(normal(word) == word for word in words)


def test_the_step_stores_all_and_drops_none():
    text = Text("a b")
    measured = signals.measure(text, Signals())
    assert measured.text is text
    assert len(measured.values) == len(signals.MEASURES)
    assert signals.decide(measured.values, Signals()) == ""


def test_a_word_of_two_hundred_thousand_characters():
    assert found("x" * 200_000)["mean_word_length"] == 200_000
