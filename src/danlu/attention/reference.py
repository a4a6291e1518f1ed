"""Attention as it is written in the textbook: slow, obvious, the yardstick of every fast path.

Costs: all scores at once, O(T^2) memory per head.
"""

from __future__ import annotations

import torch
from torch import Tensor

from danlu.attention.contract import Attention


def attend(q: Tensor, k: Tensor, v: Tensor, attention: Attention) -> Tensor:
    """softmax(q k^T / sqrt(D)) v over what each query may see (Vaswani et al. 2017, section 3.2.1)."""
    heads, length, width = q.shape[1:]
    group = heads // k.shape[1]
    k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
    scores = (q @ k.transpose(-1, -2)).float() / width**0.5
    seen = torch.ones(length, length, dtype=torch.bool, device=q.device).tril()
    if attention.documents is not None:
        documents = attention.documents
        seen = seen & (documents[:, None, :, None] == documents[:, None, None, :])
    weights = scores.masked_fill(~seen, float("-inf")).softmax(dim=-1)
    mixed: Tensor = weights.to(v.dtype) @ v
    return mixed
