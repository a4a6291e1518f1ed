"""A row is filled as an obvious reference would, for odd sizes and both choices on document boundaries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.objective.causal import Layout, Row, fill
from danlu.records import IGNORE_INDEX, PAD_DOCUMENT

PAD = 9


def filled(pieces, length, layout):
    row = Row(*(np.full(length, 77, dtype=np.int64) for _ in range(4)))
    fill(row, pieces, layout)
    return row


def reference(pieces, length, layout):
    """Token by token."""
    rows = []
    for number, (tokens, size) in enumerate(pieces):
        for i in range(size):
            label = int(tokens[i + 1]) if i + 1 < len(tokens) else IGNORE_INDEX
            position = i if layout.reset_positions else len(rows)
            rows.append((int(tokens[i]), label, position, number if layout.document_mask else 0))
    rows += [(layout.pad_id, IGNORE_INDEX, 0, PAD_DOCUMENT)] * (length - len(rows))
    return np.array(rows, dtype=np.int64).T


@given(
    sizes=st.lists(st.tuples(st.integers(1, 9), st.booleans()), max_size=6),
    spare=st.integers(0, 5),
    mask=st.booleans(),
    reset=st.booleans(),
    dtype=st.sampled_from([np.uint16, np.uint32]),
)
def test_equals_reference(sizes, spare, mask, reset, dtype):
    length = sum(size for size, _ in sizes) + spare
    rng = np.random.default_rng(len(sizes))
    top = np.iinfo(dtype).max
    pieces = [(rng.integers(0, top, size + more).astype(dtype), size) for size, more in sizes]
    layout = Layout(PAD, mask, reset)
    row = filled(pieces, length, layout)
    expected = reference(pieces, length, layout).reshape(4, length)
    for array, wanted in zip((row.inputs, row.labels, row.positions, row.documents), expected, strict=True):
        np.testing.assert_array_equal(array, wanted)


def test_no_label_crosses_a_document():
    row = filled([(np.array([0, 5, 1]), 3), (np.array([0, 6, 7]), 2)], 5, Layout(PAD, document_mask=False))
    assert row.labels.tolist() == [5, 1, IGNORE_INDEX, 6, 7]


@pytest.mark.parametrize("pieces", [[], [(np.array([3]), 1)]])
def test_nothing_to_predict(pieces):
    row = filled(pieces, 3, Layout(PAD))
    assert (row.labels == IGNORE_INDEX).all()
