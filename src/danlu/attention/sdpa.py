"""Attention by PyTorch's fused kernels: flash or memory-efficient, whichever the device has.

Decides: rows that are one whole document take the kernel's own causal path, which skips half of the work; packed rows
take the mask that was built once for all layers. Costs: O(T) extra memory on the causal path.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from danlu.attention.contract import Attention


def attend(q: Tensor, k: Tensor, v: Tensor, attention: Attention) -> Tensor:
    """q (B, H, T, D), k and v (B, KV, T, D) -> (B, H, T, D), scaled by 1/sqrt(D)."""
    grouped = q.shape[1] != k.shape[1]
    if attention.mask is None:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=grouped)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=attention.mask, enable_gqa=grouped)
