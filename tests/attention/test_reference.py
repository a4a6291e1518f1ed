from __future__ import annotations

import pytest
import torch

from danlu.attention.contract import Attention
from danlu.attention.reference import attend
from networks import golden


def wave(frequency: float, phase: float) -> torch.Tensor:
    return torch.sin(frequency * torch.arange(48 * 8, dtype=torch.float64) + phase).reshape(1, 1, 48, 8)


def test_golden() -> None:
    numbers = golden("attention")
    q, k, v = (wave(*at).requires_grad_() for at in ((0.7, 0.3), (1.1, 0.3), (1.3, 0.1)))
    out = attend(q, k, v, Attention())
    out.backward(wave(0.9, 0.5))
    assert out[0, 0, 0].tolist() == pytest.approx(numbers["out_row_0"], abs=1e-6)
    assert out[0, 0, 47].tolist() == pytest.approx(numbers["out_row_47"], abs=1e-6)
    for tensor, name in ((q, "dq_sum"), (k, "dk_sum"), (v, "dv_sum")):
        assert tensor.grad is not None
        assert tensor.grad.abs().sum().item() == pytest.approx(numbers[name], rel=1e-5)
