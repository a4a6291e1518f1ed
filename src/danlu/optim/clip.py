"""Global gradient norm and clipping, with the device read left to the caller.

Decides: the norm is taken over all parameters in fp32 and clipping multiplies by max_norm / (norm + 1e-6) where that is
below 1, as torch.nn.utils.clip_grad_norm_. Costs: one sweep over the gradients for the norm, a second one only where
they are too long.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn


@torch.no_grad()
def gradient_norm(parameters: Sequence[nn.Parameter]) -> Tensor:
    """The 2-norm of all gradients as one number on the device; 0 where there are none."""
    gradients = _gradients(parameters)
    if not gradients:
        return torch.zeros(())
    norm: Tensor = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
    return norm


@torch.no_grad()
def scale_gradients(parameters: Sequence[nn.Parameter], norm: float, max_norm: float) -> None:
    """Shortens the gradients in place to `max_norm` if `norm`, theirs as read from the device, exceeds it."""
    coefficient, gradients = max_norm / (norm + 1e-6), _gradients(parameters)
    if coefficient < 1.0 and gradients:
        torch._foreach_mul_(gradients, coefficient)


def _gradients(parameters: Sequence[nn.Parameter]) -> list[Tensor]:
    return [parameter.grad for parameter in parameters if parameter.grad is not None]
