"""The table of words and the n-grams that repeat, against strings."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import published_rules
from danlu.rules.ngrams import hash_word, repeated_ngrams, word_table
from danlu.words.text import Text

WORDS = st.lists(st.sampled_from(["a", "b", "ab", "ba", "0", "00", "文", "\0", "a\0", "\ud800"]), max_size=80)


def characters_of(words: list[str]) -> list[int]:
    top = [published_rules.top_characters(words, size) for size in (2, 3, 4)]
    return top + [published_rules.duplicate_characters(words, size) for size in range(5, 11)]


@given(WORDS)
def test_ngrams_equal_the_slow_reference(words):
    table = word_table(Text(" ".join(words), words_setting="plain"))
    assert table.count == len(words)
    assert repeated_ngrams(table) == characters_of(words)


@pytest.mark.parametrize("count", [0, 1, 2, 9, 10, 11, 500, 5_000])
def test_ngrams_of_texts_of_every_size(count):
    draw = random.Random(count)
    words = [draw.choice("abcdefgh") * draw.randint(1, 3) for _ in range(count)]
    assert repeated_ngrams(word_table(Text(" ".join(words)))) == characters_of(words)


def test_duplicates_are_compared_without_spaces():
    words = ["ab", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "a", "bc", "d", "e", "f"]
    assert repeated_ngrams(word_table(Text(" ".join(words))))[3] == len("abcdef")


def test_hashes_are_of_the_words_and_their_sums_too():
    words = ["the", "…", "1984", "l'été", "文字", "the", "_a", "\0x", "w" * 50_000]
    table = word_table(Text(" ".join(words), words_setting="plain"))
    assert table.hashes[: table.count].tolist() == [int(hash_word(word)) for word in words]
    assert table.hashes[0] == table.hashes[5]
    assert len({*table.hashes[: table.count].tolist()}) == len(words) - 1
    assert table.characters[: table.count + 1].tolist() == np.cumsum([0, *map(len, words)]).tolist()
    assert (table.prose_words, table.letter_words) == (8, 7)
    assert table.prose_characters == sum(map(len, words)) - 1


def test_a_table_is_built_once_a_text_and_anew_for_other_words():
    text = Text("one two")
    assert word_table(text) is word_table(text)
    first = word_table(text)
    text.language = "zh"
    assert word_table(text) is not first
