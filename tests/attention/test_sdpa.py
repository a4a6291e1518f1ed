from __future__ import annotations

import numpy as np
import pytest
import torch

from danlu.attention import reference, sdpa
from danlu.attention.contract import Attention, make_attention


def heads(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), requires_grad=True)


@pytest.mark.parametrize("length", [1, 7, 33, 130])
@pytest.mark.parametrize("kv_heads", [4, 2, 1])
@pytest.mark.parametrize("packed", [False, True], ids=["whole", "packed"])
def test_equals_the_reference_in_value_and_gradient(length: int, kv_heads: int, packed: bool) -> None:
    attention = Attention()
    if packed:
        documents = np.stack([np.arange(length) // 5, np.full(length, -1)])
        documents[0, length - length // 4 :] = -1
        attention = make_attention(documents, torch.device("cpu"))
    results = []
    for attend in (reference.attend, sdpa.attend):
        q, k, v = (
            heads(1, 2, 4, length, 8),
            heads(2, 2, kv_heads, length, 8),
            heads(3, 2, kv_heads, length, 8),
        )
        out = attend(q, k, v, attention)
        out.backward(torch.cos(torch.arange(out.numel(), dtype=torch.float32)).view_as(out))
        results.append((out, q.grad, k.grad, v.grad))
    for slow, fast in zip(*results, strict=True):
        assert slow is not None
        assert fast is not None
        assert torch.isfinite(fast).all()
        torch.testing.assert_close(fast, slow, atol=2e-6, rtol=1e-5)
