"""Who may attend to whom: the one value that every attention kernel is handed.

Decides: attention is causal, and where rows are packed, only within a document. The choice between the fast causal
path and the masked one is made from numpy on the host, so that it never waits for the device.
Costs: packed rows build one (B, 1, T, T) mask per micro-batch, shared by all layers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from danlu.records import Ints


@dataclass(frozen=True, slots=True, eq=False)
class Attention:
    """Causal attention over rows of T tokens.

    `documents` is None where every row is one document without padding; else int64 (B, T), a document number per
    token and PAD_DOCUMENT on padding. `mask` goes with it: bool (B, 1, T, T), True where query (dim 2) sees key
    (dim 3). Padding counts as one more document: it sees only padding and is seen by nothing else, so that no row
    of scores is empty and no NaN can arise.
    """

    documents: Tensor | None = None
    mask: Tensor | None = None


Attend = Callable[[Tensor, Tensor, Tensor, Attention], Tensor]
"""(q (B, H, T, D), k (B, KV, T, D), v (B, KV, T, D), attention) -> (B, H, T, D); H is a multiple of KV."""


def make_attention(documents: Ints, device: torch.device) -> Attention:
    """The attention of a micro-batch, from its document numbers (B, T) on the host."""
    if not (documents != documents[:, :1]).any() and (documents[:, 0] >= 0).all():
        return Attention()
    numbers = torch.from_numpy(np.ascontiguousarray(documents)).to(device, non_blocking=True)
    return Attention(numbers, document_mask(numbers))


def document_mask(documents: Tensor) -> Tensor:
    """Bool (B, 1, T, T): causal, and query and key are of one document."""
    length = documents.shape[1]
    same = documents[:, None, :, None] == documents[:, None, None, :]
    causal = torch.ones(length, length, dtype=torch.bool, device=documents.device).tril_()
    return same & causal
