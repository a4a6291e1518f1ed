"""SwiGLU's gate: silu(gate) * up, from one fused projection and with one fused gradient.

Decides: gate and up lie side by side in one tensor, so that one matmul makes both and one makes their gradient.
Costs: keeps that tensor and silu(gate) for the backward pass.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor


class _SwiGlu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gate_up: Tensor) -> Tensor:
        gate, up = gate_up.chunk(2, dim=-1)
        opened = F.silu(gate)
        ctx.save_for_backward(gate_up, opened)
        return opened * up

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        gate_up, opened = ctx.saved_tensors
        gate, up = gate_up.chunk(2, dim=-1)
        gate_up_grad = torch.empty_like(gate_up)
        gate_grad, up_grad = gate_up_grad.chunk(2, dim=-1)
        torch.ops.aten.silu_backward.grad_input(grad * up, gate, grad_input=gate_grad)
        torch.mul(opened, grad, out=up_grad)
        return gate_up_grad


def swiglu(gate_up: Tensor) -> Tensor:
    """(..., 2F) -> (..., F): silu of the first half times the second (Shazeer 2020)."""
    if torch.compiler.is_compiling():  # it fuses the plain formula, and its gradient, itself
        gate, up = gate_up.chunk(2, dim=-1)
        return F.silu(gate) * up
    return _SwiGlu.apply(gate_up)  # type: ignore[no-any-return, no-untyped-call]
