"""Loss, perplexity and bits per byte against sums written out token by token."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.errors import InputError
from danlu.evaluate.bits import evaluate_domain
from danlu.records import IGNORE_INDEX, Batch, Piece, Sample

TOKEN_BYTES = np.array([0, 0, 0, 1, 2, 5], dtype=np.int64)


def make_batch(labels: np.ndarray, rows: list[list[tuple[int, int]]] | None = None) -> Batch:
    """Rows of (document, tokens); without them each row is a part of document 0."""
    pieces = rows or [[(0, labels.shape[1])]] * len(labels)
    samples = [
        Sample(
            *[row] * 4, tuple(Piece("prose", document, 0, length) for document, length in parts), "prose", 0
        )
        for row, parts in zip(labels, pieces, strict=True)
    ]
    return Batch(*[labels] * 4, tuple(samples), 0)


def texts(lengths=(1000,), byte_counts=(7,)):
    """Documents of so many tokens with BOS and EOS, and so many bytes."""
    return SimpleNamespace(domain="prose", lengths=np.array(lengths), byte_counts=np.array(byte_counts))


def measure(losses, labels: np.ndarray):
    """One batch of a part of a long document."""
    return evaluate_domain(lambda _: losses, texts(), [make_batch(labels)], TOKEN_BYTES)


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from([1, 3, 4, 5]), min_size=1, max_size=9),
            st.integers(0, 3),
            st.integers(0, 40),
        ),
        min_size=1,
        max_size=6,
    ),
    st.integers(1, 5),
    st.integers(0, 99),
)
def test_equal_to_the_slow_sum(documents, size, seed):
    """Whole documents (none of their labels missing) and parts, one after another in rows of `size`."""
    stream = [
        (number, label) for number, (labels, missing, _) in enumerate(documents) for label in labels[missing:]
    ]
    if not stream:
        return
    batches, losses, rng = [], [], np.random.default_rng(seed)
    nats, length = 0.0, 0
    for first in range(0, len(stream), size):
        row = stream[first : first + size]
        labels = np.full((1, size + 2), IGNORE_INDEX)
        labels[0, : len(row)] = [label for _, label in row]
        batches.append(make_batch(labels, [[(number, 1) for number, _ in row]]))
        losses.append(rng.exponential(size=labels.shape).astype(np.float32))
        nats += sum(float(loss) for loss in losses[-1][0, : len(row)])
    for labels, missing, own in documents:
        length += sum(int(TOKEN_BYTES[label]) for label in labels[missing:]) if missing else own
    by_batch = {id(batch): loss for batch, loss in zip(batches, losses, strict=True)}
    lengths, byte_counts = zip(*((len(labels) + 1, own) for labels, _, own in documents), strict=True)
    domain = texts(lengths, byte_counts)
    if length == 0:
        with pytest.raises(InputError):
            evaluate_domain(lambda batch: by_batch[id(batch)], domain, batches, TOKEN_BYTES)
        return
    found = evaluate_domain(lambda batch: by_batch[id(batch)], domain, batches, TOKEN_BYTES)
    assert (found.domain, found.tokens, found.bytes) == ("prose", len(stream), length)
    assert found.loss == pytest.approx(nats / len(stream))
    assert found.perplexity == pytest.approx(math.exp(nats / len(stream)))
    assert found.bits_per_byte == pytest.approx(nats / math.log(2) / length)


def test_a_uniform_model_of_bytes_needs_eight_bits_and_pays_for_the_end():
    token_bytes = np.array([0, *[1] * 256])
    labels = np.append(np.arange(1, 257), 0)[None]
    uniform = np.full((1, 257), math.log(256))
    part = evaluate_domain(lambda _: uniform[:, :256], texts(), [make_batch(labels[:, :256])], token_bytes)
    assert part.bits_per_byte == pytest.approx(8.0)
    whole = evaluate_domain(lambda _: uniform, texts([258], [256]), [make_batch(labels)], token_bytes)
    assert whole.bits_per_byte == pytest.approx(8.0 * 257 / 256)


def test_what_is_said_of_ignored_labels_does_not_count():
    assert measure(np.array([[1.0, np.nan]]), np.array([[3, IGNORE_INDEX]])).loss == 1.0


def test_a_broken_network_is_measured_without_a_crash():
    assert measure(np.array([[1e4]]), np.array([[3]])).perplexity == math.inf
    nothing = measure(np.array([[np.nan]]), np.array([[3]]))
    assert math.isnan(nothing.loss)
    assert math.isnan(nothing.perplexity)


def test_no_text_is_an_error_that_names_the_domain():
    for batches in ([], [make_batch(np.full((1, 2), IGNORE_INDEX))], [make_batch(np.array([[1, 1]]))]):
        with pytest.raises(InputError, match="'prose' has no validation text"):
            evaluate_domain(lambda batch: np.zeros(batch.labels.shape), texts(), batches, TOKEN_BYTES)


def test_losses_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="shape"):
        measure(np.zeros((2, 1)), np.array([[3, 3]]))
