"""Cross-entropy straight from hidden states: the logits of a chunk exist once and are gone.

Decides: rows are taken in chunks whose logits fit the last-level cache; the gradient is computed while they are there,
so that the head costs three matmuls and three sweeps instead of a dozen. Sums, never means: the caller divides by the
number of valid tokens of the global step (z-loss and label smoothing as PaLM and torch define them).
Guarantee: equal to the plain formula in value and gradient to 1e-6, whatever the chunk. Costs: the gradient of the head
is held from forward to backward.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from danlu.records import IGNORE_INDEX

_CHUNK_NUMBERS = 1 << 21
"""Logits of a chunk: 8 MiB of fp32, a share of the last-level cache of any server core."""
_MIN_CHUNK_ROWS = 256
"""Fewer rows would starve the matmuls."""


class LossSums(NamedTuple):
    """Sums over the valid tokens, fp32 scalars.

    `objective_sum` is what is minimised and carries the gradient; `nll_sum` (nats) and `z_sum` (already weighted) are
    detached, for the log.
    """

    objective_sum: Tensor
    nll_sum: Tensor
    z_sum: Tensor


def losses(
    hidden: Tensor, head_weight: Tensor, labels: Tensor, z_weight: float = 0.0, label_smoothing: float = 0.0
) -> LossSums:
    """hidden (B, T, W), head_weight (V, W), labels int64 (B, T) with IGNORE_INDEX where there is no loss."""
    needs_gradient = torch.is_grad_enabled() and (hidden.requires_grad or head_weight.requires_grad)
    sums = _LinearCrossEntropy.apply(  # type: ignore[no-untyped-call]
        hidden.flatten(0, -2), head_weight, labels.flatten(), z_weight, label_smoothing, needs_gradient
    )
    return LossSums(*sums)


@torch.no_grad()
def token_nll(hidden: Tensor, head_weight: Tensor, labels: Tensor) -> Tensor:
    """Negative log-likelihood of every label in nats, fp32 (B, T), 0 where there is none; for evaluation."""
    rows, flat = hidden.flatten(0, -2), labels.flatten()
    nll = torch.empty(len(rows), device=hidden.device)
    for chunk in _chunks(len(rows), len(head_weight)):
        log_p = torch.log_softmax((rows[chunk] @ head_weight.t()).float(), dim=-1)
        nll[chunk] = -log_p.gather(1, flat[chunk].clamp_min(0)[:, None])[:, 0]
    return nll.masked_fill_(flat == IGNORE_INDEX, 0.0).view(labels.shape)


def _chunks(rows: int, vocab_size: int) -> list[slice]:
    size = max(_MIN_CHUNK_ROWS, _CHUNK_NUMBERS // vocab_size)
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]


class _LinearCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        labels: Tensor,
        z_weight: float,
        smoothing: float,
        needs_gradient: bool,
    ) -> tuple[Tensor, Tensor, Tensor]:
        device = hidden.device.type
        dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else hidden.dtype
        ctx.gradients = None
        with torch.autocast(device, enabled=False):
            gradients, *sums = _visit_logits(
                hidden.to(dtype), weight.to(dtype), labels, z_weight, smoothing, needs_gradient
            )
        if gradients is not None:
            ctx.gradients = gradients[0].to(hidden.dtype), gradients[1].to(weight.dtype)
        objective, nll, z = sums
        ctx.mark_non_differentiable(nll, z)
        return objective, nll, z

    @staticmethod
    def backward(ctx: Any, grad: Tensor, *_: Tensor) -> tuple[Tensor, Tensor, None, None, None, None]:
        if ctx.gradients is None:
            raise RuntimeError("the loss has no gradient to give: it was asked for twice, or under no_grad")
        hidden_grad, weight_grad = ctx.gradients
        ctx.gradients = None
        return hidden_grad.mul_(grad), weight_grad.mul_(grad), None, None, None, None


def _visit_logits(
    hidden: Tensor, weight: Tensor, labels: Tensor, z_weight: float, smoothing: float, needs_gradient: bool
) -> tuple[tuple[Tensor, Tensor] | None, Tensor, Tensor, Tensor]:
    """(gradients by hidden (N, W) and weight (V, W), objective sum, nll sum, z sum).

    With p the softmax of a row, lse its log-partition, t = (1 - smoothing) onehot + smoothing / V and
    s = 1 + 2 z_weight lse, the gradient by the logits is s (p - t / s). The factor s, and 0 for rows without a label,
    goes into the rows of the two small operands, so that no sweep over the vocabulary is spent on it.
    """
    wide = torch.float64 if hidden.dtype == torch.float64 else torch.float32
    valid = (labels != IGNORE_INDEX).to(wide)
    targets = labels.clamp_min(0)[:, None]
    nll, lse, uniform = (torch.zeros_like(valid) for _ in range(3))
    hidden_grad = torch.empty(hidden.shape, dtype=wide, device=hidden.device) if needs_gradient else hidden
    weight_grad = torch.zeros(weight.shape if needs_gradient else 0, dtype=wide, device=hidden.device)
    chunks = _chunks(len(hidden), len(weight))
    buffer = hidden.new_empty(chunks[0].stop, len(weight))
    for rows in chunks:
        logits = torch.mm(hidden[rows], weight.t(), out=buffer[: rows.stop - rows.start]).to(wide)
        target, picked = targets[rows], logits.gather(1, targets[rows])
        log_p = torch.log_softmax(logits, dim=1, out=logits)
        nll[rows] = -log_p.gather(1, target)[:, 0]
        lse[rows] = picked[:, 0] + nll[rows]
        if smoothing:
            uniform[rows] = -log_p.mean(1)
        if needs_gradient:
            stretch = lse[rows, None].mul(2 * z_weight).add_(1.0)
            error = log_p.exp_()
            error.scatter_add_(1, target, (smoothing - 1.0) / stretch)
            if smoothing:
                error.sub_(smoothing / len(weight) / stretch)
            stretch.mul_(valid[rows, None])
            error = error.to(hidden.dtype)
            hidden_grad[rows] = (error @ weight).to(wide).mul_(stretch)
            _add_product(weight_grad, error.t(), (hidden[rows] * stretch).to(hidden.dtype))
    nll_sum = (nll * valid).sum()
    z_sum = (lse.square() * valid).sum() * z_weight
    smooth_sum = (1.0 - smoothing) * nll_sum + smoothing * (uniform * valid).sum()
    return (hidden_grad, weight_grad) if needs_gradient else None, smooth_sum + z_sum, nll_sum, z_sum


def _add_product(total: Tensor, a: Tensor, b: Tensor) -> None:
    """total += a @ b, inside the matmul where the dtypes allow it."""
    if a.dtype == total.dtype:
        total.addmm_(a, b)
    else:
        total.add_(a @ b)
