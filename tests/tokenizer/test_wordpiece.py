"""Likelihood WordPiece against a slow reference in float64, and the golden steps."""

import json
import random
from pathlib import Path

import pytest

from danlu.tokenizer.subwords import word_symbols
from danlu.tokenizer.wordpiece import most_likely_pieces

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "tokenizer_golden.json").read_text(encoding="utf-8")
)


def reference(words, symbols, most, longest, min_count, first_seen=False):
    """(pair, token, score, tied) of each step; ties as ours, or to the pair seen first, as the golden run does."""
    ids = {name: i for i, name in enumerate(symbols)}
    splits = {word: [word[0], *("##" + c for c in word[1:])] for word in words}
    steps, forbidden = [], set()
    while len({token for _, token, _, _ in steps}) < most:
        pairs, singles = {}, {}
        for word, count in words.items():
            for symbol in splits[word]:
                singles[symbol] = singles.get(symbol, 0) + count
            for pair in zip(splits[word], splits[word][1:], strict=False):
                pairs[pair] = pairs.get(pair, 0) + count
        scores = {
            pair: count / (float(singles[pair[0]]) * float(singles[pair[1]]))
            for pair, count in pairs.items()
            if count >= min_count and pair not in forbidden
        }
        if not scores:
            break
        best = max(scores.values())
        tied = [pair for pair in scores if scores[pair] == best]
        pair = tied[0] if first_seen else min(tied, key=lambda p: (-pairs[p], ids[p[0]], ids[p[1]]))
        token = pair[0] + pair[1].removeprefix("##")
        if len(token.removeprefix("##")) > longest:
            forbidden.add(pair)
            continue
        steps.append((pair, token, best, tied))
        ids.setdefault(token, len(ids))
        for word, split in splits.items():
            joined, i = [], 0
            while i < len(split):
                step = 2 if tuple(split[i : i + 2]) == pair else 1
                joined.append(token if step == 2 else split[i])
                i += step
            splits[word] = joined
    return steps


def test_golden_likelihood_steps():
    words = GOLDEN["bpe_toy"]["freq"]
    golden = GOLDEN["wordpiece_likelihood_toy"]
    steps = reference(
        words, word_symbols(GOLDEN["bpe_toy"]["freq"], "bghnpsu"), len(golden), 99, 1, first_seen=True
    )
    for (pair, token, score, tied), (wanted, name, value, others) in zip(steps, golden, strict=True):
        assert (list(pair), token) == (wanted, name)
        assert score == pytest.approx(value, rel=1e-15)
        assert sorted(map(list, tied)) == sorted(others)


def test_first_golden_step_is_ours():
    words = list(GOLDEN["bpe_toy"]["freq"].items())
    assert most_likely_pieces(words, word_symbols(GOLDEN["bpe_toy"]["freq"], "bghnpsu"), 1, 99, 1) == ["##gs"]


@pytest.mark.parametrize("min_count", [1, 2])
@pytest.mark.parametrize("longest", [3, 99])
@pytest.mark.parametrize("seed", range(6))
def test_equals_the_reference(seed, longest, min_count):
    random.seed(seed)
    words = {}
    for _ in range(120):
        word = "".join(random.choices("aab好d", k=random.randint(1, 9)))
        words[word] = words.get(word, 0) + random.randint(1, 4)
    symbols = word_symbols(words, "abd好")
    wanted = list(dict.fromkeys(t for _, t, _, _ in reference(words, symbols, 60, longest, min_count)))
    assert most_likely_pieces(list(words.items()), symbols, 60, longest, min_count) == wanted


def test_nothing_to_join():
    assert most_likely_pieces([("a", 3)], ["a", "##a"], 5, 9, 1) == []
    assert most_likely_pieces([], ["a", "##a"], 5, 9, 1) == []
