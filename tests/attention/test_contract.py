from __future__ import annotations

import numpy as np
import torch

from danlu.attention.contract import document_mask, make_attention

CPU = torch.device("cpu")


def test_whole_rows_take_the_fast_path() -> None:
    attention = make_attention(np.array([[0, 0], [4, 4]]), CPU)
    assert attention.documents is None
    assert attention.mask is None


def test_packed_or_padded_rows_are_masked() -> None:
    for documents in ([[0, 1]], [[0, -1]], [[-1, -1]]):
        attention = make_attention(np.array(documents), CPU)
        assert attention.documents is not None
        assert attention.documents.tolist() == documents
        assert attention.mask is not None


def test_mask_is_causal_within_documents_and_never_empty() -> None:
    mask = document_mask(torch.tensor([[0, 0, 1, -1, -1]]))[0, 0]
    assert mask.int().tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 0, 1, 1],
    ]
