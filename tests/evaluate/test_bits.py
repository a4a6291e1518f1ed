"""Loss, perplexity and bits per byte against sums written out token by token."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.errors import InputError
from danlu.evaluate.bits import evaluate_domain
from danlu.records import IGNORE_INDEX, Batch

TOKEN_BYTES = np.array([0, 0, 0, 1, 2, 5], dtype=np.int64)


def make_batch(labels: np.ndarray) -> Batch:
    zeros = np.zeros_like(labels)
    return Batch(zeros, labels, zeros, zeros, (), 0)


def slow(batches: list[Batch], losses: list[np.ndarray]) -> tuple[float, int, int]:
    nats, tokens, length = 0.0, 0, 0
    for batch, loss in zip(batches, losses, strict=True):
        for row in range(batch.labels.shape[0]):
            for column in range(batch.labels.shape[1]):
                label = batch.labels[row, column]
                if label != IGNORE_INDEX:
                    nats += float(loss[row, column])
                    tokens += 1
                    length += int(TOKEN_BYTES[label])
    return nats, tokens, length


@given(
    st.lists(
        st.lists(st.sampled_from([IGNORE_INDEX, 1, 3, 4, 5]), min_size=6, max_size=6), min_size=1, max_size=4
    ),
    st.integers(0, 99),
)
def test_equal_to_the_slow_sum(rows, seed):
    rows[0][0] = 4
    batches = [make_batch(np.array(row).reshape(2, 3)) for row in rows]
    rng = np.random.default_rng(seed)
    losses = [rng.exponential(size=(2, 3)).astype(np.float32) for _ in rows]
    by_batch = {id(batch): loss for batch, loss in zip(batches, losses, strict=True)}
    found = evaluate_domain(lambda batch: by_batch[id(batch)], "prose", batches, TOKEN_BYTES)
    nats, tokens, length = slow(batches, losses)
    assert (found.domain, found.tokens, found.bytes) == ("prose", tokens, length)
    assert found.loss == pytest.approx(nats / tokens)
    assert found.perplexity == pytest.approx(math.exp(nats / tokens))
    assert found.bits_per_byte == pytest.approx(nats / math.log(2) / length)


def test_a_uniform_model_of_bytes_needs_eight_bits_and_pays_for_the_end():
    token_bytes = np.array([0, *[1] * 256])
    labels = np.arange(1, 257).reshape(1, 256)
    uniform = np.full((1, 256), math.log(256))
    found = evaluate_domain(lambda _: uniform, "d", [make_batch(labels)], token_bytes)
    assert found.bits_per_byte == pytest.approx(8.0)
    labels[0, -1] = 0
    found = evaluate_domain(lambda _: uniform, "d", [make_batch(labels)], token_bytes)
    assert found.bits_per_byte == pytest.approx(8.0 * 256 / 255)


def test_what_is_said_of_ignored_labels_does_not_count():
    labels = np.array([[3, IGNORE_INDEX]])
    found = evaluate_domain(lambda _: np.array([[1.0, np.nan]]), "d", [make_batch(labels)], TOKEN_BYTES)
    assert found.loss == 1.0


def test_a_broken_network_is_measured_without_a_crash():
    labels = np.array([[3]])
    huge = evaluate_domain(lambda _: np.array([[1e4]]), "d", [make_batch(labels)], TOKEN_BYTES)
    assert huge.perplexity == math.inf
    nothing = evaluate_domain(lambda _: np.array([[np.nan]]), "d", [make_batch(labels)], TOKEN_BYTES)
    assert math.isnan(nothing.loss)
    assert math.isnan(nothing.perplexity)


def test_no_text_is_an_error_that_names_the_domain():
    for batches in ([], [make_batch(np.full((1, 2), IGNORE_INDEX))], [make_batch(np.array([[1, 1]]))]):
        with pytest.raises(InputError, match="'prose' has no validation text"):
            evaluate_domain(lambda batch: np.zeros(batch.labels.shape), "prose", batches, TOKEN_BYTES)


def test_losses_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="shape"):
        evaluate_domain(lambda _: np.zeros((2, 1)), "d", [make_batch(np.array([[3, 3]]))], TOKEN_BYTES)
