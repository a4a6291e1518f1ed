"""Rotary positions: queries and keys are turned by an angle that grows with their position.

Decides: the two numbers of a pair are neighbours (Su et al. 2021's own layout), so that a turn is one complex
multiplication; model/naming.py permutes the weights to and from the layout of
Hugging Face, whose pairs are half a head apart. Angles are computed in fp64 and never rounded to a shorter float than
fp32. Costs: one table of T turns, kept.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def inverse_frequencies(head_width: int, theta: float) -> Tensor:
    """theta^(-2i/D) for pair i = 0..D/2-1, fp64 (D/2,)."""
    return theta ** (-torch.arange(0, head_width, 2, dtype=torch.float64) / head_width)


def turns_table(length: int, head_width: int, theta: float) -> Tensor:
    """e^(i * position * frequency) for positions below `length`: complex128 (length, D/2)."""
    angles = torch.outer(torch.arange(length, dtype=torch.float64), inverse_frequencies(head_width, theta))
    return torch.polar(torch.ones_like(angles), angles)


def _as_pairs(x: Tensor) -> Tensor:
    """(..., D) as complex (..., D/2), without a copy where the last dim is dense."""
    dense = x if x.stride(-1) == 1 else x.contiguous()
    return torch.view_as_complex(dense.view(*x.shape[:-1], -1, 2))


def _turned(x: Tensor, turns: Tensor) -> Tensor:
    """x times turns in the precision of the turns, in the dtype of x."""
    return torch.view_as_real(_as_pairs(x.to(turns.real.dtype)) * turns).flatten(-2).to(x.dtype)


class _Turn(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, turns: Tensor) -> Tensor:
        ctx.save_for_backward(turns)
        return _turned(x, turns)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (turns,) = ctx.saved_tensors
        return _turned(grad, turns.conj()), None


def turn(x: Tensor, turns: Tensor) -> Tensor:
    """x (B, T, H, D) turned by turns, complex (B, T, 1, D/2); computed in the precision of the turns."""
    return _Turn.apply(x, turns)  # type: ignore[no-any-return, no-untyped-call]


class _SplitTurned(torch.autograd.Function):
    """The gradients of q, k and v are written side by side, turned back on the way: no concatenation."""

    @staticmethod
    def forward(
        ctx: Any, qkv: Tensor, turns: Tensor, heads: int, kv_heads: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        ctx.save_for_backward(turns)
        q, k, v = torch.split(qkv, [heads, kv_heads, kv_heads], dim=2)
        # a view of v would keep the whole projection until the backward pass
        return _turned(q, turns), _turned(k, turns), v.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None, None]:
        (turns,) = ctx.saved_tensors
        widths = [grad.shape[2] for grad in grads]
        b, t, _, d = grads[0].shape
        qkv_grad = torch.empty(b, t, sum(widths), d, dtype=grads[0].dtype, device=grads[0].device)
        q, k, v = torch.split(qkv_grad, widths, dim=2)
        back = turns.conj().resolve_conj()
        for grad, out in ((grads[0], q), (grads[1], k)):
            torch.mul(_as_pairs(grad), back, out=_as_pairs(out))
        v.copy_(grads[2])
        return qkv_grad, None, None, None


def split_turned(qkv: Tensor, turns: Tensor, heads: int, kv_heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """Splits the heads of a fused projection (B, T, H + 2 KV, D) into q, k, v and turns q and k."""
    if qkv.dtype != turns.real.dtype or torch.compiler.is_compiling():
        q, k, v = torch.split(qkv, [heads, kv_heads, kv_heads], dim=2)
        return turn(q, turns), turn(k, turns), v
    return _SplitTurned.apply(qkv, turns, heads, kv_heads)  # type: ignore[no-any-return, no-untyped-call]
