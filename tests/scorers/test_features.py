"""Hashed features beside a slow reference of strings, on texts of every kind."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.scorers.features import (
    EDGE,
    count_repeats,
    extract_features,
    fold_table,
    list_characters,
    list_words,
    pad_chunks,
    split_tokens,
)
from danlu.scorers.settings import Features
from danlu.words.classes import PUNCTUATION, SPACE, UNSPACED, table
from danlu.words.hashes import hash_span, join_hashes
from danlu.words.text import Text, encode

ODD = [
    "",
    "a",
    " ",
    " \n\t ",
    "The cat's hat, 12.5 km!",
    "f*ck a$$ ABC abc",
    "河水在夜里涨了起来，到了早晨。",
    "混合 mixed 文字and words",
    "\U0001f642\U0001f642 smile",
    "lone \ud800 surrogate",
    "line\r\nends\r\nhere\0NUL",
    "x" * 300,
    "Straße İstanbul ǅ",
]
texts = st.text(max_size=50) | st.text(alphabet="aB1 .\n字\ud800\0İ", max_size=50)


def fold(text):
    """Small letters and zeros, one code point for one."""
    return [
        "0" if c.isdecimal() else c.lower() if len(c.lower()) == 1 and ord(c) < 0x34000 else c for c in text
    ]


def flag(character):
    return int(table()[ord(character)])


def tokens_of(text):
    found, inside = [], False
    for place, character in enumerate(text):
        if flag(character) & SPACE:
            inside = False
        elif flag(character) & (PUNCTUATION | UNSPACED):
            found.append((place, place + 1))
            inside = False
        elif inside:
            found[-1] = (found[-1][0], place + 1)
        else:
            found.append((place, place + 1))
            inside = True
    return found


def runs_of_characters(text, shortest, longest):
    """Every run of folded characters, edges as None, of each chunk between spaces."""
    chunks, chunk = [], []
    for original, folded in zip(text, fold(text), strict=True):
        if flag(original) & SPACE:
            chunks.append(chunk)
            chunk = []
        else:
            chunk.append(folded)
    for part in filter(None, [*chunks, chunk]):
        padded = [None, *part, None]
        for first in range(len(padded)):
            for length in range(shortest, longest + 1):
                if first + length <= len(padded):
                    yield tuple(padded[first : first + length])


def runs_of_words(text, length):
    words = ["".join(fold(text)[start:end]) for start, end in tokens_of(text)]
    for first in range(len(words) - length + 1):
        yield tuple(words[first : first + length])


def counts(values):
    return sorted(Counter(values).values())


def hashes_of(folded):
    starts, ends = split_tokens(folded, table())
    return np.array(
        [hash_span(folded, start, end) for start, end in zip(starts, ends, strict=True)], np.uint64
    )


@given(texts | st.sampled_from(ODD))
@pytest.mark.parametrize(("shortest", "longest"), [(3, 6), (1, 2), (2, 2)])
def test_runs_of_characters_are_those_of_strings(shortest, longest, text):
    padded = pad_chunks(fold_table()[encode(text)], table())
    # 32 bits instead of buckets: no two of so few meet by chance.
    found = list_characters(padded, 32, shortest, longest)
    assert counts(found.tolist()) == counts(runs_of_characters(text, shortest, longest))
    assert not len(list_characters(padded, 32, shortest, 0))


@given(texts | st.sampled_from(ODD))
@pytest.mark.parametrize("words", [1, 2, 5])
def test_runs_of_words_are_those_of_strings(words, text):
    found = list_words(hashes_of(fold_table()[encode(text)]), 32, words)
    assert counts(found.tolist()) == counts(runs_of_words(text, words))


@given(texts | st.sampled_from(ODD))
@pytest.mark.parametrize(
    "features", [Features(), Features(max_characters=0), Features(word_ngram=0), Features(word_ngram=3)]
)
def test_kinds_weigh_the_same(features, text):
    folded = fold_table()[encode(text)]
    bits = features.bucket_bits
    kinds = [
        list_characters(pad_chunks(folded, table()), bits, features.min_characters, features.max_characters)
    ]
    kinds += [list_words(hashes_of(folded), bits, words) for words in range(1, features.word_ngram + 1)]
    rows = [count_repeats(kind) for kind in kinds if len(kind)]
    row = extract_features(text, features)
    assert row.buckets.tolist() == [bucket for buckets, _ in rows for bucket in buckets.tolist()]
    wanted = np.concatenate([np.empty(0), *(values for _, values in rows)]) / math.sqrt(max(len(rows), 1))
    assert np.allclose(row.values, wanted, rtol=1e-5)
    assert not len(rows) or math.isclose(float(np.linalg.norm(row.values)), 1.0, rel_tol=1e-5)
    assert bool(len(rows)) == bool(text.strip())


@given(texts)
def test_tokens_are_those_of_strings(text):
    starts, ends = split_tokens(encode(text), table())
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == tokens_of(text)


def test_buckets_are_the_top_bits_of_hashes():
    hashes = hashes_of(encode("ab cd"))
    assert list_words(hashes, 32, 1).tolist() == [int(join_hashes(np.uint64(0), one)) >> 32 for one in hashes]
    assert (list_words(hashes, 32, 1) >> 20).tolist() == list_words(hashes, 12, 1).tolist()


def test_chunks_have_edges():
    assert pad_chunks(encode("ab  c "), table()).tolist() == [EDGE, 97, 98, EDGE, EDGE, 99, EDGE]
    assert pad_chunks(encode(""), table()).tolist() == []


@given(st.lists(st.integers(0, 40), max_size=200))
def test_repeats_are_counted(buckets):
    found, values = count_repeats(np.array(buckets, np.uint32))
    wanted = Counter(buckets)
    assert found.tolist() == list(wanted)
    raw = np.array([1 + math.log(count) for count in wanted.values()])
    assert np.allclose(values, raw / max(float(np.linalg.norm(raw)), 1e-9), atol=1e-6)


def test_case_digits_and_what_lies_behind_do_not_count():
    features = Features(read_characters=100)
    plain = extract_features("the year 1999 ended".ljust(100), features)
    other = extract_features(Text("The YEAR 2024 ended".ljust(100) + "and more"), features)
    assert np.array_equal(plain.buckets, other.buckets)
    assert np.array_equal(plain.values, other.values)


def test_features_of_known_texts_stay():
    row = extract_features("Sure, 水是生命", Features(bucket_bits=10))
    assert len(row.buckets) == 35
    assert row.buckets[:4].tolist() == [395, 486, 34, 35]
