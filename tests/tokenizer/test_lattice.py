"""The kernels against sums over every way to cut a string."""

import itertools
import math
import random

import numpy as np
import pytest

from danlu.tokenizer.lattice import insert_all, losses, viterbi_counts
from danlu.tokenizer.unigram import _flat, expect, make_trie, segments_of

PIECES = {"a": -1.5, "b": -1.7, "ab": -2.0, "ba": -2.5, "aba": -3.1, "好": -4.0, "a好": -3.0}


def cuts(text, pieces):
    """Every way to cut a text into pieces."""
    if not text:
        yield []
    for size in range(1, len(text) + 1):
        if text[:size] in pieces:
            for rest in cuts(text[size:], pieces):
                yield [text[:size], *rest]


def random_words(seed):
    random.seed(seed)
    return [
        ("".join(random.choices("aab好", k=random.randint(1, 8))), random.randint(1, 5)) for _ in range(30)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_expectation_is_the_sum_over_all_cuts(seed):
    words = random_words(seed)
    wanted, likelihood = dict.fromkeys(PIECES, 0.0), 0.0
    for word, count in words:
        weights = [(cut, math.exp(sum(PIECES[piece] for piece in cut))) for cut in cuts(word, PIECES)]
        total = sum(weight for _, weight in weights)
        likelihood += count * math.log(total)
        for cut, weight in weights:
            for piece in cut:
                wanted[piece] += count * weight / total
    expected, found = expect(segments_of(words, "ab好"), PIECES)
    assert found == pytest.approx(likelihood, rel=1e-12)
    assert expected == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_best_cuts_and_losses(seed):
    words = random_words(seed)
    segments, (keys, values, scores) = segments_of(words, "ab好"), make_trie(PIECES)
    used = viterbi_counts(segments.codes, segments.starts, segments.counts, keys, values, scores)
    wanted = dict.fromkeys(PIECES, 0.0)
    for word, count in words:
        best = max(cuts(word, PIECES), key=lambda cut: sum(PIECES[piece] for piece in cut))
        for piece in best:
            wanted[piece] += count
    assert dict(zip(PIECES, used.tolist(), strict=True)) == wanted
    codes, starts = _flat(list(PIECES))
    loss = losses(codes, starts, keys, values, scores, used)
    for piece, value in zip(PIECES, loss.tolist(), strict=True):
        others = {name: score for name, score in PIECES.items() if name != piece}
        ways = list(cuts(piece, others))
        alternative = max(ways, key=lambda cut: sum(PIECES[name] for name in cut), default=None)
        if alternative is None or not wanted[piece] or sum(PIECES[n] for n in alternative) >= PIECES[piece]:
            assert value == -math.inf
            continue
        total, used_here = sum(wanted.values()), wanted[piece]
        without = sum(math.log(wanted[name] + used_here) for name in alternative)
        without -= len(alternative) * math.log(total + used_here * (len(alternative) - 1))
        assert value == pytest.approx(used_here / total * (math.log(used_here / total) - without))


def test_a_trie_that_is_too_full_says_so():
    codes, starts = _flat(["".join(word) for word in itertools.product("abc", repeat=4)])
    assert insert_all(codes, starts, 64)[2] == -1
    keys, values, nodes = insert_all(codes, starts, 512)
    assert nodes == 1 + 3 + 9 + 27 + 81
    assert np.sort(values[values[:, 1] >= 0, 1]).tolist() == list(range(81))
    assert (keys >= 0).sum() == nodes - 1
