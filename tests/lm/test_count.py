"""Numbers of words and counts of n-grams against dictionaries."""

from collections import Counter

import numpy as np
import pytest

from danlu.lm.count import BEGIN, END, Vocabulary, batches, count_texts, ngram_rows, word_hash
from danlu.lm.count import add_counts as add_counts_of
from danlu.lm.runs import Sorter
from danlu.lm.tokens import cut
from danlu.words.text import encode
from small_models import sentences


def test_words_are_numbered_in_order_of_appearance():
    vocabulary = Vocabulary()
    assert vocabulary.number(cut(encode("b a b\nc"), "spaces")).tolist() == [3, 4, 3, 5]
    assert vocabulary.number(cut(encode("c </s> d"), "spaces")).tolist() == [5, END, 6]
    assert vocabulary.words == ["<unk>", "<s>", "</s>", "b", "a", "c", "d"]


def test_many_words():
    vocabulary = Vocabulary()
    words = [f"w{number}" for number in range(20_000)]
    for _ in range(2):
        for begin in range(0, 20_000, 3000):
            text = " ".join(words[begin : begin + 3000])
            numbers = vocabulary.number(cut(encode(text), "spaces"))
            assert numbers.tolist() == list(range(begin + 3, begin + 3 + len(numbers)))
    assert vocabulary.words[3:] == words


@pytest.mark.parametrize("order", [2, 3, 5])
def test_ngrams_are_those_of_a_dictionary(tmp_path, order):
    lines = ["", "one", *sentences(50), "x <unk> y <s>", "</s>", "  "]
    sorter = Sorter(tmp_path, order + 1, tuple(range(order)), 10_000, add_counts_of)
    vocabulary = Vocabulary()
    words = count_texts(["\n".join(lines[:20]), "\n".join(lines[20:])], "spaces", order, vocabulary, sorter)
    expected, total = Counter(), 0
    for line in lines:
        plain = [word for word in line.split() if word not in ("<s>", "</s>", "<unk>")]
        if plain:
            padded = [*["<s>"] * (order - 1), *plain, "</s>"]
            expected.update(tuple(padded[at : at + order]) for at in range(len(padded) - order + 1))
            total += len(plain)
    rows = np.concatenate(list(sorter.blocks(order)))
    names = vocabulary.words
    assert {tuple(names[word] for word in row[:-1]): row[-1] for row in rows.tolist()} == expected
    assert words == total


def test_a_sentence_begins_with_as_many_marks_as_are_missing():
    rows = ngram_rows(np.array([7, 8], np.uint32), np.array([2], np.int64), 3)
    assert rows.tolist() == [[BEGIN, BEGIN, 7, 1], [BEGIN, 7, 8, 1], [7, 8, END, 1]]


def test_batches_hold_all_texts():
    texts = ["a", "", "bb\n", "c" * 10, "d", "e\nffffff\ng" * 5, "\n" * 20]
    for size in (1, 5, 100):
        assert "\n".join(batches(texts, size)).split("\n") == "\n".join(texts).split("\n")
    assert max(map(len, batches(texts[:4] + texts[5:], 5))) <= 5 + 12
    assert list(batches([])) == []


def test_hashes_are_of_the_word():
    assert word_hash("字") != word_hash("字字") != word_hash("")
