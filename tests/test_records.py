"""The types that flow: frozen, small, and what is counted from them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from danlu.records import IGNORE_INDEX, PAD_DOCUMENT, Batch, Document, Piece, Sample


def sample(labels: list[int], number: int = 0) -> Sample:
    """A row with these labels; everything else is of no matter here."""
    row = np.array(labels, dtype=np.int64)
    zeros = np.zeros_like(row)
    return Sample(zeros, row, zeros, zeros, (Piece("prose", 3, 0, len(labels)),), "prose", number)


def test_document_defaults_and_frozen() -> None:
    document = Document(id="a", text="x", source="a.txt", domain="prose", group="a.txt")
    assert (document.start, document.end, document.given_id) == (0, 0, False)
    with pytest.raises(dataclasses.FrozenInstanceError):
        document.text = "y"  # type: ignore[misc]


def test_target_tokens_counts_labels_with_a_loss() -> None:
    rows = (sample([5, IGNORE_INDEX, 0]), sample([IGNORE_INDEX] * 3, 1))
    stacked = {
        name: np.stack([getattr(row, name) for row in rows]) for name in ("inputs", "labels", "positions")
    }
    batch = Batch(**stacked, documents=np.full((2, 3), PAD_DOCUMENT), samples=rows, first=0)
    assert batch.target_tokens == 2
    assert type(batch.target_tokens) is int


def test_shared_constants_are_what_torch_expects() -> None:
    assert IGNORE_INDEX == -100, "torch.nn.functional.cross_entropy's default"
    assert PAD_DOCUMENT < 0, "no document has this number"
