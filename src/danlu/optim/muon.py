"""Muon: momentum whose matrices are orthogonalised, in fp32, all matrices of one shape in one batch.

Decides: Newton-Schulz runs in fp32 and on stacks (a tall matrix is transposed, so that gate, up and down share one);
torch.optim.Muon takes matrices one by one in bf16, which a CPU without bf16 units emulates. A fused parameter is split
into its own matrices first. Update as torch.optim.Muon with adjust_lr_fn = "match_rms_adamw".
Costs: five iterations of three batched products a step; one stacked copy of the gradients.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
_ITERATIONS = 5
_EPSILON = 1e-7


@dataclass(frozen=True, slots=True)
class _Matrix:
    """Rows [start, stop) of parameter `name`."""

    name: str
    start: int
    stop: int
    transpose: bool


def orthogonalise(stack: Tensor) -> Tensor:
    """Newton-Schulz on a stack (n, rows, columns), rows <= columns: singular values go to about 1 (Jordan 2024)."""
    a, b, c = _COEFFICIENTS
    x: Tensor = stack / stack.flatten(1).norm(dim=1).clamp_min(_EPSILON)[:, None, None]
    for _ in range(_ITERATIONS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x


class Muon:
    """Moves the matrices it is given; `momentum` is its whole state, one tensor a parameter, by name."""

    def __init__(
        self,
        parameters: Mapping[str, nn.Parameter],
        splits: Mapping[str, Sequence[int]],
        momentum: float,
        weight_decay: float,
    ) -> None:
        self._parameters = dict(parameters)
        self._factor, self._decay = momentum, weight_decay
        self._stacks: dict[tuple[int, int], list[_Matrix]] = {}
        for name, parameter in parameters.items():
            start, columns = 0, parameter.shape[1]
            for rows in splits.get(name, (parameter.shape[0],)):
                key = (min(rows, columns), max(rows, columns))
                self._stacks.setdefault(key, []).append(_Matrix(name, start, start + rows, rows > columns))
                start += rows
            assert start == parameter.shape[0], f"the splits of {name} do not cover it"
        self.momentum = {name: torch.zeros_like(parameter) for name, parameter in parameters.items()}

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """One update; parameters without a gradient count as having a zero one."""
        updates = self._nesterov()
        for (_, long_side), matrices in self._stacks.items():
            views = [_view(updates[matrix.name], matrix) for matrix in matrices]
            scale = 0.2 * math.sqrt(long_side)
            for matrix, update in zip(matrices, orthogonalise(torch.stack(views)), strict=True):
                weight = _view(self._parameters[matrix.name], matrix)
                weight.mul_(1.0 - rate * self._decay).add_(update, alpha=-rate * scale)

    def _nesterov(self) -> dict[str, Tensor]:
        """Moves the momentum and returns the look-ahead gradient (1 - m) g + m momentum."""
        names = list(self._parameters)
        momenta = [self.momentum[name] for name in names]
        gradients = [
            torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            for parameter in self._parameters.values()
        ]
        torch._foreach_lerp_(momenta, gradients, 1.0 - self._factor)
        return dict(zip(names, torch._foreach_lerp(gradients, momenta, self._factor), strict=True))


def _view(tensor: Tensor, matrix: _Matrix) -> Tensor:
    rows = tensor[matrix.start : matrix.stop]
    return rows.t() if matrix.transpose else rows
