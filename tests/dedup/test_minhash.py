"""Signatures against plain arithmetic, who has one, and the recall of planted copies against theory."""

import hashlib
import re
from pydoc_data.topics import topics

import numpy as np
import pytest

from danlu.dedup.minhash import BAND, MinHashSigner, band_keys, draw_functions, shingle_hashes, sign
from danlu.dedup.parameters import found_share
from danlu.dedup.plan import sign_file
from danlu.dedup.records import count_records
from danlu.dedup.settings import MinHash
from danlu.words.classes import UNSPACED, table
from danlu.words.shingles import simplify
from danlu.words.text import Text, encode

COPIES = 250
"""For each rate."""


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 1000])
def test_a_signature_is_the_minimum_of_every_function(count):
    shingles = np.random.default_rng(count).integers(0, 2**64, count, dtype=np.uint64)
    a, b = draw_functions(112, 1)
    signature = np.empty(112, np.uint64)
    sign(shingles, a, b, signature)
    expected = [
        min((int(x) * int(p) + int(q)) % 2**64 % (2**61 - 1) for x in shingles)
        for p, q in zip(a, b, strict=True)
    ]
    assert signature.tolist() == expected


@pytest.mark.parametrize("ngram", [1, 2, 5])
@pytest.mark.parametrize("alone", [0, UNSPACED])
@pytest.mark.parametrize(
    "text", ["", " ", "a", " a  b ", "abc de f abc de f", "中文 a中b 中文", "x\x00y 😀 \ud800 x\x00y"]
)
def test_shingles_are_equal_where_their_words_are(text, alone, ngram):
    words = text.split()
    if alone:
        words = [word for run in words for word in re.findall("[中文]|[^中文]+", run)]
    expected = [tuple(words[place : place + ngram]) for place in range(len(words) - ngram + 1)]
    found = shingle_hashes(encode(text), table(), alone, ngram).tolist()
    assert len(found) == len(expected)
    assert len(dict(zip(expected, found, strict=True))) == len({*found}) == len({*expected})
    assert all(
        dict(zip(expected, found, strict=True))[one] == hashed
        for one, hashed in zip(expected, found, strict=True)
    )


def test_the_functions_are_the_published_draw():
    a, b = draw_functions(112, 1)
    generator = np.random.RandomState(1)
    assert (a == generator.randint(1, 2**61 - 1, dtype=np.uint64, size=(1, 112))[0]).all()
    assert (b == generator.randint(0, 2**61 - 1, dtype=np.uint64, size=(1, 112))[0]).all()


def test_band_keys_depend_on_their_rows_and_band():
    signatures = np.random.default_rng(0).integers(0, 2**61, (3, 12), dtype=np.uint64)
    signatures[2] = signatures[0]
    signatures[2, 5] += np.uint64(1)
    keys = np.empty((4, 3), np.uint64)
    band_keys(signatures, 4, keys)
    assert (keys[:, 0] == keys[:, 2]).tolist() == [True, False, True, True]
    assert len(np.unique(keys)) == 4 * 3 - 3
    same = np.zeros((1, 12), np.uint64)
    band_keys(same, 4, keys[:, :1])
    assert len(np.unique(keys[:, 0])) == 4


def test_a_document_with_fewer_words_than_a_shingle_is_not_signed(tmp_path):
    signer = MinHashSigner(MinHash(), tmp_path, 0, 3)
    texts = [
        "",
        " ",
        "one two three four",
        "!!! ??? ... --- +++",
        "one two three four five",
        "一二三四",
        "一二三四五",
    ]
    for index, text in enumerate(texts):
        signer.add(index, Text(text), False)
    signer.close(len(texts))
    assert count_records(sign_file(tmp_path, 0, "records"), BAND) == 2 * 14


def test_empty_and_short_documents_never_match(deduplicate):
    short = ["", "", "\n", "same", "same", "a b c d", "a b c d", "好", "好", "a b c d e", "A b, c d: e!"]
    assert deduplicate(MinHash(), [short[:3], short[3:]]).dropped() == [False] * 10 + [True]


@pytest.mark.parametrize("batch", [1, 3])
def test_files_do_not_depend_on_batches(tmp_path, monkeypatch, batch):
    def signed(directory):
        signer = MinHashSigner(MinHash(), directory, 4, 2)
        for index in (0, 3, 4, 5, 8, 9):
            signer.add(index, Text(f"a text of some {'long ' * index} words and more"), index == 4)
        signer.close(12)
        files = sorted((directory / "signed").iterdir())
        return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}

    expected = signed(tmp_path / "one")
    monkeypatch.setattr("danlu.dedup.minhash._BATCH", batch)
    assert signed(tmp_path / "other") == expected


# ---- recall


def shingle_set(text):
    words = simplify(text).split()
    return {tuple(words[n : n + 5]) for n in range(len(words) - 4)}


def plant(rate):
    """COPIES texts of real words in random order, their copies with words replaced, and the true Jaccard of each."""
    generator = np.random.default_rng(int(rate * 1000))
    vocabulary = np.array(
        sorted({word for text in topics.values() for word in text.split() if word.isalpha()})
    )
    originals, copies, jaccard = [], [], []
    for length in generator.integers(80, 600, COPIES):
        words = generator.choice(vocabulary, length)
        copy = np.where(generator.random(length) < rate, generator.choice(vocabulary, length), words)
        originals.append(" ".join(words))
        copies.append(" ".join(copy))
        one, other = shingle_set(originals[-1]), shingle_set(copies[-1])
        jaccard.append(len(one & other) / len(one | other))
    return originals, copies, np.array(jaccard)


@pytest.mark.parametrize("rate", [0.0, 0.005, 0.01, 0.02, 0.05, 0.1])
def test_recall_is_that_of_theory(deduplicate, rate):
    originals, copies, jaccard = plant(rate)
    found = deduplicate(MinHash(), [originals, copies])
    expected = found_share(jaccard, 14, 8)
    deviation = np.sqrt((expected * (1 - expected)).sum())
    outcome = found.outcomes[1]
    assert not found.outcomes[0].dropped.any()
    assert (outcome.match == np.where(outcome.dropped, np.arange(COPIES), -1)).all()
    assert abs(outcome.dropped.sum() - expected.sum()) <= 3 * deviation
    # What was found has more equal hashes than its Jaccard lets expect, the more so the lower that is.
    error = np.abs(outcome.similarity - jaccard)[outcome.dropped]
    assert error.mean() < (0.1 if rate == 0.1 else 0.05)


def test_chinese_goes_by_character(deduplicate):
    generator = np.random.default_rng(3)
    characters = [chr(code) for code in range(0x4E00, 0x4E00 + 800)]
    text = "".join(generator.choice(characters, 300))
    changed = f"{text[:150]}龘{text[151:]}"
    other = "".join(generator.choice(characters, 300))
    found = deduplicate(MinHash(min_jaccard=0.5), [[text, changed, other]])
    assert found.dropped() == [False, True, False]
    assert found.outcomes[0].similarity[1] == pytest.approx(291 / 301, abs=1e-6)
