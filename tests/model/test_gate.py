from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from danlu.model.gate import swiglu


@pytest.mark.parametrize("shape", [(3, 2), (2, 5, 34)], ids=str)
def test_value_and_gradient_are_those_of_the_formula(shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    x = (3 * torch.randn(shape, dtype=torch.float64)).requires_grad_()
    gate, up = x.chunk(2, dim=-1)
    slow, fast = F.silu(gate) * up, swiglu(x)
    torch.testing.assert_close(fast, slow, atol=1e-14, rtol=1e-14)
    weights = torch.randn_like(slow)
    (a,), (b,) = torch.autograd.grad(fast, x, weights), torch.autograd.grad(slow, x, weights)
    torch.testing.assert_close(a, b, atol=1e-13, rtol=1e-13)
