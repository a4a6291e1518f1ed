from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from danlu.optim.clip import gradient_norm, scale_gradients


def parameters(scale: float) -> list[nn.Parameter]:
    generator = torch.Generator().manual_seed(0)
    made = [nn.Parameter(torch.zeros(shape)) for shape in ((3, 5), (7,), (2, 2))]
    for parameter in made[:2]:
        parameter.grad = scale * torch.randn(parameter.shape, generator=generator)
    return made


def clip(parameters: list[nn.Parameter], max_norm: float) -> float:
    """As the training does: one read of the device between the two."""
    norm = float(gradient_norm(parameters))
    scale_gradients(parameters, norm, max_norm)
    return norm


@pytest.mark.parametrize("scale", [1e-3, 0.2, 1.0, 1e6])
def test_equals_torch(scale: float) -> None:
    ours, theirs = parameters(scale), parameters(scale)
    norm = clip(ours, 1.0)
    assert norm == pytest.approx(float(nn.utils.clip_grad_norm_(theirs, 1.0)), rel=1e-6)
    for mine, other in zip(ours[:2], theirs, strict=False):
        torch.testing.assert_close(mine.grad, other.grad, atol=0, rtol=1e-6)


def test_short_gradients_are_left_alone_bitwise() -> None:
    once, clipped = parameters(1e-3), parameters(1e-3)
    clip(clipped, 1.0)
    for before, after in zip(once[:2], clipped, strict=False):
        assert before.grad is not None
        assert after.grad is not None
        assert torch.equal(before.grad, after.grad)


def test_a_norm_that_is_not_finite_is_reported_and_scales_nothing() -> None:
    made = parameters(1.0)
    assert made[0].grad is not None
    made[0].grad[0, 0] = math.nan
    before = made[1].grad
    assert math.isnan(clip(made, 1.0))
    assert made[1].grad is before


def test_no_gradients_have_norm_zero() -> None:
    made = [nn.Parameter(torch.zeros(2))]
    assert float(gradient_norm(made)) == 0.0
    scale_gradients(made, 10.0, 1.0)
