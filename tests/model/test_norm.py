from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from danlu.model.norm import RmsNorm, rms_norm


@pytest.mark.parametrize("shape", [(5, 33), (2, 3, 8), (2, 3, 4, 6)], ids=str)
def test_value_and_gradients_are_those_of_torch(shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    gain = torch.randn(shape[-1], dtype=torch.float64, requires_grad=True)
    ours, theirs = rms_norm(x, gain, 1e-5), F.rms_norm(x, (shape[-1],), gain, 1e-5)
    torch.testing.assert_close(ours, theirs, atol=1e-12, rtol=1e-12)
    weights = torch.randn(shape, dtype=torch.float64)
    mine = torch.autograd.grad(ours, (x, gain), weights)
    for a, b in zip(mine, torch.autograd.grad(theirs, (x, gain), weights), strict=True):
        torch.testing.assert_close(a, b, atol=1e-12, rtol=1e-10)


def test_short_floats_are_normed_in_fp32() -> None:
    x = torch.full((1, 4), 300.0, dtype=torch.float16)
    out = rms_norm(x, torch.ones(4), 1e-5)
    assert out.dtype == torch.float16
    assert out.tolist() == [[1.0] * 4]


def test_a_row_of_zeros_is_finite() -> None:
    x = torch.zeros(2, 4, requires_grad=True)
    rms_norm(x, torch.ones(4), 1e-5).sum().backward()
    assert x.grad is not None
    assert torch.isfinite(x.grad).all()


def test_the_gain_is_unusable_until_it_is_filled() -> None:
    assert RmsNorm(3, 1e-5)(torch.ones(1, 3)).isnan().all()
