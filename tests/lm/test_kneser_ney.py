"""Modified Kneser-Ney against its recursive definition, and its sums."""

import itertools
import random

import pytest

from danlu.lm.kneser_ney import FALLBACK, discounts_of
from danlu.lm.runs import find_rows
from danlu.lm.train import LEAST_MEMORY_BYTES, train_lm
from small_models import SlowModel, read_slowly, score_slowly, sentences


def trained(tmp_path, lines, **settings):
    card = train_lm(["\n".join(lines)], tmp_path / "m.arpa", tokens="spaces", held_out_share=0.0, **settings)
    return card, read_slowly((tmp_path / "m.arpa").read_text(encoding="utf-8"))


@pytest.mark.parametrize("order", [2, 3, 5])
@pytest.mark.parametrize("count", [1, 3, 400])
def test_scores_are_those_of_the_definition(tmp_path, order, count):
    lines = sentences(count)
    slow = SlowModel(lines, order)
    card, grams = trained(tmp_path, lines, order=order)
    for line in [*lines[:40], *sentences(40, seed=1), "unknown words", "w1 unknown w2"]:
        assert score_slowly(grams, card.order, line) == pytest.approx(slow.score(line), abs=1e-4)
    for found, expected in zip(card.discounts, slow.discounts[1:], strict=False):
        assert found == pytest.approx(expected[1:])


@pytest.mark.parametrize("prune", [(0,), (0, 0, 1), (0, 1, 2)])
def test_probabilities_after_every_context_sum_to_one(tmp_path, prune):
    card, grams = trained(tmp_path, sentences(300), order=3, prune=prune)
    words = [gram[0] for gram in grams if len(gram) == 1 and gram != ("<s>",)]

    def probability(context, word):
        if (*context, word) in grams:
            return 10 ** grams[*context, word][0]
        weight = 10 ** grams.get(context, (0, 0))[1]
        return weight * probability(context[1:], word)

    contexts = [gram for gram in grams if len(gram) < 3 and "</s>" not in gram]
    for context in [(), *itertools.islice(contexts, 200)]:
        assert sum(probability(context, word) for word in words) == pytest.approx(1, abs=1e-4)
    assert len(grams) == sum(card.ngrams)


def test_pruning_leaves_out_what_is_rare(tmp_path):
    whole, _ = trained(tmp_path, sentences(300), order=3)
    pruned, grams = trained(tmp_path, sentences(300), order=3, prune=(0, 0, 1))
    assert pruned.ngrams[:2] == whole.ngrams[:2]
    assert 0 < pruned.ngrams[2] < whole.ngrams[2]
    text = "\n".join(f" <s> {line} </s> " for line in sentences(300))
    for gram in grams:
        if len(gram) == 3:
            assert text.count(f" {' '.join(gram)} ") >= 1


def test_one_block_of_a_lower_order_is_held_at_a_time(tmp_path, monkeypatch):
    held = []

    def watched(rows, *others):
        held.append(len(rows))
        return find_rows(rows, *others)

    monkeypatch.setattr("danlu.lm.kneser_ney.find_rows", watched)
    words = random.Random(1).choices(range(400), k=6000)
    lines = [" ".join(f"w{word}" for word in words[start : start + 20]) for start in range(0, 6000, 20)]
    _, little = trained(tmp_path, lines, order=3, prune=(0, 0, 1), memory_bytes=LEAST_MEMORY_BYTES)
    # A block is a 64th of the memory, in rows of two integers and more; the file of pairs has thousands of rows.
    assert max(held) <= LEAST_MEMORY_BYTES // 64 // 2
    _, much = trained(tmp_path, lines, order=3, prune=(0, 0, 1), memory_bytes=1 << 24)
    assert little == much
    assert sum(len(gram) == 2 for gram in little) > 3000


def test_discounts_of_equation_26():
    # By hand: Y = 100 / (100 + 2 * 40) = 5/9.
    found = discounts_of((0, 100, 40, 20, 10))
    assert found.amounts == pytest.approx((1 - 2 * 5 / 9 * 0.4, 2 - 3 * 5 / 9 * 0.5, 3 - 4 * 5 / 9 * 0.5))
    assert not found.fallback


@pytest.mark.parametrize("tally", [(0, 0, 1, 1, 1), (0, 1, 1, 0, 1), (0, 100, 1, 100, 1)])
def test_discounts_that_have_no_answer(tally):
    assert discounts_of(tally) == (FALLBACK, True)
