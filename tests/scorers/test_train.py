"""Training: what the card says is so, on both scales, and the same each time."""

import tracemalloc

import numpy as np
import pytest

from danlu.errors import InputError
from danlu.scorers.examples import Examples, is_held_out
from danlu.scorers.metrics import area_under_curve
from danlu.scorers.model_file import score_text
from danlu.scorers.settings import Features, Training
from danlu.scorers.train import BINS, build_rows, train_scorer
from small_scorers import SMALL, small_examples, small_scorer


def held_scores(scorer, examples, share):
    held = is_held_out(examples.texts, share)
    scores = [score_text(text, scorer) for text, out in zip(examples.texts, held, strict=True) if out]
    return np.array(scores), examples.labels[held]


def test_figures_are_of_what_was_held_out():
    scorer, examples = small_scorer(recall=0.8), small_examples()
    card = scorer.card
    scores, labels = held_scores(scorer, examples, 0.3)
    assert card.metrics["area_under_curve"] == area_under_curve(scores, labels == 1) > 0.95
    assert (card.data.held_out, card.data.trained) == (len(labels), 300 - len(labels))
    assert card.data.held_out_positive == labels.sum()
    found = scores >= card.threshold.value
    assert card.threshold.recall == (found & (labels == 1)).sum() / labels.sum() >= 0.8
    assert card.threshold.precision == labels[found].mean()
    assert card.threshold.aim == "recall 0.8"
    assert len(card.curve.positive_bins) == BINS
    assert sum(card.curve.positive_bins) + sum(card.curve.negative_bins) == len(labels)
    assert card.data.left_out == {"no_text": 2}
    assert all(0 <= score <= 1 for score in scores)


def test_what_is_held_out_changes_no_weight():
    examples = small_examples()
    held = is_held_out(examples.texts, 0.3)
    other = Examples(examples.texts, np.where(held, 1 - examples.labels, examples.labels), (), {})
    settings = Training(features=SMALL, held_out=0.3)
    first, second = train_scorer(examples, settings), train_scorer(other, settings)
    assert np.array_equal(first.weights, second.weights)
    assert second.card.metrics["area_under_curve"] == pytest.approx(
        1 - first.card.metrics["area_under_curve"]
    )


def test_a_scale_of_five():
    scorer, examples = small_scorer(scale="0-5"), small_examples(scale="0-5")
    scores, labels = held_scores(scorer, examples, 0.3)
    card = scorer.card
    assert card.metrics["mean_absolute_error"] == pytest.approx(np.abs(scores - labels).mean())
    assert card.metrics["mean_absolute_error"] < 1.0
    assert card.metrics["pearson"] == pytest.approx(np.corrcoef(scores, labels)[0, 1])
    assert card.metrics["spearman"] > 0.8
    assert card.data.held_out_positive == (labels >= 3).sum()
    assert scores.min() >= 0 and scores.max() <= 5  # noqa: PT018 - one range
    assert card.cutoff == 3.0


def test_a_precision_chooses_the_threshold():
    card = small_scorer(precision=1.0).card
    assert card.threshold.precision == 1.0
    assert card.threshold.aim == "precision 1"
    assert small_scorer().card.threshold.aim == "recall 0.9"


def test_the_same_training_is_the_same():
    first, second = small_scorer(), small_scorer()
    assert np.array_equal(first.weights, second.weights)
    assert first.card == second.card


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_one_side_alone_is_refused(label):
    examples = small_examples(30)
    alone = Examples(examples.texts, np.full(30, label), (), {})
    with pytest.raises(InputError, match=f"none of these is {'negative' if label else 'positive'}"):
        train_scorer(alone, Training(features=SMALL, held_out=0.3))


def test_memory_is_bounded():
    with pytest.raises(InputError, match="memory = 1000 bytes"):
        train_scorer(small_examples(), Training(features=SMALL, memory=1000))


def test_features_are_never_there_twice():
    letters = np.random.default_rng(1).choice(list("abcdefgh "), (150, 900))
    texts = ["".join(row) for row in letters]
    build_rows(texts[:2], Features(), 10**9)
    tracemalloc.start()
    try:
        rows = build_rows(texts, Features(), 10**9)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(rows.columns) == len(rows.values) == rows.starts[-1] > 50_000
    assert peak < 1.4 * 8 * len(rows.columns)


@pytest.mark.parametrize("spare", [0, 1])
def test_all_of_the_memory_may_be_used(spare):
    texts = [f"one two three {number}" for number in range(50)]
    whole = build_rows(texts, SMALL, 10**9)
    rows = build_rows(texts, SMALL, 8 * len(whole.columns) + spare)
    assert all(np.array_equal(one, other) for one, other in zip(rows, whole, strict=True))
    with pytest.raises(InputError, match="take more than memory"):
        build_rows(texts, SMALL, 8 * len(whole.columns) - 1)


def test_rows_end_with_the_bias():
    said = []
    rows = build_rows(["one text", "", "two"], SMALL, 10**6, said.append)
    assert rows.starts[0] == 0
    for start, end in zip(rows.starts, rows.starts[1:], strict=False):
        assert (rows.columns[end - 1], rows.values[end - 1]) == (1 << SMALL.bucket_bits, 1.0)
        assert end > start
    assert rows.starts[2] - rows.starts[1] == 1
