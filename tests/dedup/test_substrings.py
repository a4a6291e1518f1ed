"""Repeated runs of words against brute force and against a suffix array."""

from itertools import pairwise

import numpy as np
import pytest

from danlu.dedup import substrings
from danlu.dedup.settings import Substrings
from danlu.errors import RecipeError
from danlu.words.text import Text


def drawn(seed, documents, length, vocabulary):
    generator = np.random.default_rng(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [
        " ".join(letters[n] for n in generator.integers(0, vocabulary, generator.integers(0, length)))
        for _ in range(documents)
    ]


def by_brute_force(texts, length, keep, first_of=()):
    """For each text, the words that stay."""
    seen = {}
    order = [*first_of, *(n for n in range(len(texts)) if n not in first_of)]
    words = [text.split() for text in texts]
    for number in order:
        for place in range(len(words[number]) - length + 1):
            seen.setdefault(tuple(words[number][place : place + length]), []).append((number, place))
    gone = [set() for _ in texts]
    for places in seen.values():
        for number, place in places[keep == "first" :] if len(places) > 1 else []:
            gone[number] |= set(range(place, place + length))
    return [[w for n, w in enumerate(words[d]) if n not in gone[d]] for d in range(len(texts))]


@pytest.mark.parametrize("keep", ["first", "none"])
@pytest.mark.parametrize("ranges", [1, 4])
@pytest.mark.parametrize("vocabulary", [1, 2, 3, 26])
def test_against_brute_force(deduplicate, keep, ranges, vocabulary):
    texts = drawn(vocabulary, 12, 60, vocabulary)
    found = deduplicate(
        Substrings(min_words=6, keep=keep), [texts[:5], texts[5:6], [], texts[6:]], ranges=ranges
    )
    assert [text.split() for text in found.texts()] == by_brute_force(texts, 6, keep)


def test_held_out_documents_come_first(deduplicate):
    texts = drawn(8, 6, 60, 2)
    marked = [(text, number in (2, 5)) for number, text in enumerate(texts)]
    found = deduplicate(Substrings(min_words=6), [marked[:3], marked[3:]])
    assert [t.split() for t in found.texts()] == by_brute_force(texts, 6, "first", (2, 5))


def by_suffix_array(texts, length):
    """For each text, the words that stay where neighbours in the sorted suffixes share `length` words."""
    words, owner = [], []
    for number, text in enumerate(texts):
        own = text.split()
        words += [*own, f"end of {number}"]
        owner += [(number, place) for place in range(len(own) + 1)]
    suffixes = sorted(range(len(words)), key=lambda start: words[start:])
    gone = set()
    for one, other in pairwise(suffixes):
        if words[one : one + length] == words[other : other + length] and other + length <= len(words):
            gone |= {*range(one, one + length), *range(other, other + length)}
    left = [[] for _ in texts]
    for place, word in enumerate(words):
        if place not in gone and not word.startswith("end of"):
            left[owner[place][0]].append(word)
    return left


@pytest.mark.parametrize("length", [2, 3, 7])
def test_against_a_suffix_array(deduplicate, length):
    texts = drawn(length, 9, 50, 3)
    found = deduplicate(Substrings(min_words=length, keep="none"), [texts[:4], texts[4:]], ranges=3)
    assert [text.split() for text in found.texts()] == by_suffix_array(texts, length)


@pytest.mark.parametrize("seed", range(4))
def test_cuts_end_with_words_in_every_script(deduplicate, seed):
    parts = [
        "naïve café",
        "e\u0301te\u0301",
        "中文没有空格的句子",
        "😀🏽 ok",
        "mixed中文mixed",
        "a\r\nb",
        "x\x00y",
        "ไทย",
    ]
    generator = np.random.default_rng(seed)
    texts = [" ".join(parts[n] for n in generator.integers(0, len(parts), 30)) for _ in range(6)]
    found = deduplicate(Substrings(min_words=4), [texts[:3], texts[3:]])
    cuts = [(text, span) for text, spans in _spans(found, texts) for span in spans]
    assert cuts
    for text, (start, end) in cuts:
        words = Text(text).words
        assert start in words.starts
        assert end in words.ends


def _spans(found, texts):
    outcomes = [(outcome, index) for outcome in found.outcomes for index in range(len(outcome.dropped))]
    return [
        (text, outcome.cuts.get(index, [])) for text, (outcome, index) in zip(texts, outcomes, strict=True)
    ]


def test_chinese_is_cut_by_character(deduplicate):
    common = "这是一个在两篇文章里都出现的很长的句子"
    found = deduplicate(
        Substrings(min_words=10), [["甲文开头" + common + "甲文结尾"], ["乙" + common + "丙"]]
    )
    assert found.texts() == ["甲文开头" + common + "甲文结尾", "乙丙"]


def test_no_cut_parts_a_letter_from_its_vowel_signs(deduplicate):
    common = "ี่ยาวนานผ่านแม่น้ำและภูเขา"
    found = deduplicate(Substrings(min_words=10), [[f"ท{common}ด"], [f"ป{common}ิด", f"{common}"]])
    assert found.texts() == [f"ท{common}ด", "ปี่าิด", "ี่"]


def test_a_shard_with_more_words_than_can_be_numbered_is_refused(deduplicate, monkeypatch):
    monkeypatch.setattr(substrings, "MOST_WORDS", 7)
    assert deduplicate(Substrings(min_words=3), [["a b c d", "a b c"], ["e f g"]]).texts()[1] == ""
    with pytest.raises(RecipeError, match=r"shard 1 has more than 7 words.*corpus\.shard_bytes"):
        deduplicate(Substrings(min_words=3), [["a b"], ["a b c d", "a b c d"]])


def test_empty_and_short_documents_are_untouched(deduplicate):
    texts = ["", " ", "a b c", "a b c", "", "x" * 200_000, "x" * 200_000]
    assert deduplicate(Substrings(min_words=4), [texts]).texts() == texts
