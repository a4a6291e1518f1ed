from __future__ import annotations

import pytest
import torch
from torch import nn

from danlu.optim.muon import Muon, orthogonalise
from networks import det, golden


def newton_schulz(matrix: torch.Tensor) -> torch.Tensor:
    """One matrix at a time, as it is written in the paper."""
    x = matrix.t() if matrix.shape[0] > matrix.shape[1] else matrix
    x = x / x.norm()
    for _ in range(5):
        gram = x @ x.t()
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return x.t() if matrix.shape[0] > matrix.shape[1] else x


def test_golden() -> None:
    """torch.optim.Muon's trajectories, in fp64 but for its bf16 Newton-Schulz: hence the tolerance."""
    case = golden("optim")["optimizers"]["muon_match_rms"]
    named = {name: nn.Parameter(det(*entry["shape"], scale=0.5)) for name, entry in case["fp64"].items()}
    first = {name: parameter.detach().clone() for name, parameter in named.items()}
    muon, rate = Muon(named, {}, momentum=0.95, weight_decay=0.1), case["spec"]["lr"]
    for step in range(1, 21):
        for name, parameter in named.items():
            k = torch.arange(parameter.numel(), dtype=torch.float64)
            wave = 0.1 * torch.cos(0.9 * k + 0.5 * step) * (1 + 0.2 * (k % 5))
            parameter.grad = 0.3 * first[name] + wave.view_as(parameter)
        muon.step(rate)
        for name, parameter in named.items():
            expected = case["fp64"][name]["after"].get(str(step))
            if expected:
                tolerance = rate * 0.2 * max(parameter.shape) ** 0.5 * 0.1
                assert parameter.detach().flatten().tolist() == pytest.approx(expected, abs=tolerance)


def test_matches_torch_on_random_matrices() -> None:
    torch.manual_seed(0)
    ours = {"wide": nn.Parameter(torch.randn(16, 40)), "tall": nn.Parameter(torch.randn(40, 16))}
    theirs = [nn.Parameter(parameter.detach().clone()) for parameter in ours.values()]
    muon = Muon(ours, {}, momentum=0.95, weight_decay=0.1)
    other = torch.optim.Muon(theirs, lr=0.01, weight_decay=0.1, momentum=0.95, adjust_lr_fn="match_rms_adamw")
    for _ in range(5):
        for mine, copy in zip(ours.values(), theirs, strict=True):
            mine.grad = torch.randn_like(mine)
            copy.grad = mine.grad.clone()
        muon.step(0.01)
        other.step()
    for mine, copy in zip(ours.values(), theirs, strict=True):
        torch.testing.assert_close(mine, copy, atol=0.01 * 0.2 * 40**0.5 * 0.1, rtol=0)


def test_stacks_are_the_matrices_one_by_one() -> None:
    torch.manual_seed(0)
    stack = torch.randn(3, 5, 9, dtype=torch.float64)
    for one, together in zip(stack, orthogonalise(stack), strict=True):
        torch.testing.assert_close(together, newton_schulz(one), atol=1e-12, rtol=1e-12)
    values = torch.linalg.svdvals(orthogonalise(torch.randn(4, 32, 64)))
    assert 0.6 < float(values.min()) < float(values.max()) < 1.3


def test_fused_matrices_are_moved_as_their_parts() -> None:
    torch.manual_seed(0)
    parts = [torch.randn(8, 6), torch.randn(4, 6), torch.randn(4, 6)]
    gradients = [torch.randn_like(part) for part in parts]
    fused = nn.Parameter(torch.cat(parts))
    fused.grad = torch.cat(gradients)
    alone = {str(number): nn.Parameter(part.clone()) for number, part in enumerate(parts)}
    for parameter, gradient in zip(alone.values(), gradients, strict=True):
        parameter.grad = gradient
    Muon({"fused": fused}, {"fused": (8, 4, 4)}, momentum=0.9, weight_decay=0.1).step(0.1)
    Muon(alone, {}, momentum=0.9, weight_decay=0.1).step(0.1)
    torch.testing.assert_close(
        fused.detach(), torch.cat([p.detach() for p in alone.values()]), atol=1e-6, rtol=1e-5
    )


def test_no_gradient_moves_nothing_but_decay() -> None:
    still = nn.Parameter(torch.ones(3, 4))
    muon = Muon({"still": still}, {}, momentum=0.9, weight_decay=0.5)
    muon.step(0.1)
    torch.testing.assert_close(still.detach(), torch.full((3, 4), 0.95))
    assert not muon.momentum["still"].any()
