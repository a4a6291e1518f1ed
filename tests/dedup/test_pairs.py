"""Which pairs a bucket gives, and what is said of them."""

import numpy as np
import pytest

from danlu.dedup.pairs import jaccard
from danlu.dedup.settings import MinHash
from danlu.words.shingles import simplify


def test_jaccard_of_sorted_sets():
    sets = [[], [1, 2, 2, 3], [2, 3, 3, 4], [1, 1, 1, 2, 3], [9]]
    shingles = np.array([shingle for one in sets for shingle in one], np.uint64)
    offsets = np.concatenate(([0], np.cumsum([len(one) for one in sets])))
    low, high = np.array([(i, j) for i in range(5) for j in range(5)]).T
    expected = [
        len({*sets[i]} & {*sets[j]}) / max(len({*sets[i]} | {*sets[j]}), 1)
        for i, j in zip(low, high, strict=True)
    ]
    assert jaccard(shingles, offsets, low, high) == pytest.approx(expected)


def family(seed, changes, length=200):
    """One text, and copies with so many words replaced."""
    generator = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(generator.choice(letters, 6)) for _ in range(length)]
    copies = [words]
    for count in changes:
        copy = list(words)
        for place in generator.choice(length, count, replace=False):
            copy[place] = "".join(generator.choice(letters, 7))
        copies.append(copy)
    return [" ".join(copy) for copy in copies]


def true_jaccard(one, other):
    one, other = (
        {tuple(words[n : n + 5]) for n in range(len(words) - 4)}
        for words in (simplify(one).split(), simplify(other).split())
    )
    return len(one & other) / len(one | other)


@pytest.mark.parametrize("batch", [1, 1000, 1 << 24])
@pytest.mark.parametrize("ranges", [1, 3])
def test_verified_pairs_are_exact_and_no_less_than_asked(deduplicate, monkeypatch, batch, ranges):
    monkeypatch.setattr("danlu.dedup.pairs._BATCH_SHINGLES", batch)
    settings = MinHash(bands=40, rows=2, min_jaccard=0.8)
    texts = [text for seed in range(6) for text in family(seed, [1, 2, 3, 6, 12, 20])]
    found = deduplicate(settings, [texts[:10], texts[10:11], [], texts[11:]], ranges=ranges)
    numbers = dict(zip(_numbers(found), texts, strict=True))
    dropped = 0
    for shard, outcome in enumerate(found.outcomes):
        for index in np.flatnonzero(outcome.dropped):
            dropped += 1
            mine, pair = numbers[shard << 32 | index], numbers[int(outcome.pair[index])]
            assert outcome.similarity[index] == pytest.approx(true_jaccard(mine, pair), abs=1e-6)
            assert outcome.similarity[index] >= 0.8
    assert dropped >= 6 * 3
    loose = deduplicate(MinHash(bands=40, rows=2), [texts])
    assert sum(loose.dropped()) > dropped


def _numbers(found):
    return [
        shard << 32 | index
        for shard, outcome in enumerate(found.outcomes)
        for index in range(len(outcome.dropped))
    ]


def test_estimates_are_near(deduplicate):
    texts = family(1, [2, 5, 8])
    outcome = deduplicate(MinHash(bands=128, rows=2), [texts]).outcomes[0]
    for index in (1, 2, 3):
        pair = texts[int(outcome.pair[index])]
        assert outcome.similarity[index] == pytest.approx(true_jaccard(texts[index], pair), abs=0.1)
