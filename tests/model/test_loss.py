from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from danlu.model import loss
from danlu.model.loss import losses, token_nll
from danlu.records import IGNORE_INDEX
from networks import det, golden

LOGITS = det(2, 5, 7, scale=3.0)


def labels() -> torch.Tensor:
    return torch.tensor(golden("loss")["labels"])


def test_golden() -> None:
    numbers, identity = golden("loss"), torch.eye(7, dtype=torch.float64)
    valid = (labels() != IGNORE_INDEX).sum()
    sums = losses(LOGITS, identity, labels(), z_weight=1e-4)
    assert float(sums.nll_sum / valid) == pytest.approx(numbers["token_mean"], rel=1e-12)
    assert float(sums.z_sum / valid) == pytest.approx(numbers["zloss_1e4"], rel=1e-12)
    assert float(sums.objective_sum) == pytest.approx(float(sums.nll_sum + sums.z_sum), rel=1e-12)
    smooth = losses(LOGITS, identity, labels(), label_smoothing=0.1)
    assert float(smooth.objective_sum / valid) == pytest.approx(numbers["label_smoothing_0p1"], rel=1e-12)
    assert float(smooth.nll_sum / valid) == pytest.approx(numbers["token_mean"], rel=1e-12)


def reference(
    hidden: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor, z_weight: float, smoothing: float
) -> torch.Tensor:
    """All logits at once, with torch's own cross-entropy."""
    logits = hidden @ weight.t()
    cross_entropy = F.cross_entropy(
        logits.flatten(0, 1),
        targets.flatten(),
        label_smoothing=smoothing,
        ignore_index=IGNORE_INDEX,
        reduction="sum",
    )
    return cross_entropy + z_weight * logits.logsumexp(-1).square()[targets != IGNORE_INDEX].sum()


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("z_weight", [0.0, 0.01])
@pytest.mark.parametrize("chunk_rows", [1, 4, 1000])
def test_equals_the_plain_formula(
    monkeypatch: pytest.MonkeyPatch, smoothing: float, z_weight: float, chunk_rows: int
) -> None:
    monkeypatch.setattr(loss, "_CHUNK_NUMBERS", 1)
    monkeypatch.setattr(loss, "_MIN_CHUNK_ROWS", chunk_rows)
    torch.manual_seed(0)
    hidden = torch.randn(3, 7, 12, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(29, 12, dtype=torch.float64, requires_grad=True)
    targets = torch.randint(0, 29, (3, 7))
    targets[0, 3:] = IGNORE_INDEX
    targets[2] = IGNORE_INDEX
    slow = reference(hidden, weight, targets, z_weight, smoothing)
    fast = losses(hidden, weight, targets, z_weight, smoothing).objective_sum
    assert fast.item() == pytest.approx(slow.item(), rel=1e-12)
    expected = torch.autograd.grad(slow / 9, (hidden, weight))
    for ours, theirs in zip(torch.autograd.grad(fast / 9, (hidden, weight)), expected, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-12, rtol=1e-10)


def test_fp32_stays_within_1e_6() -> None:
    torch.manual_seed(0)
    hidden, weight = torch.randn(2, 300, 32), 0.1 * torch.randn(4099, 32)
    targets = torch.randint(0, 4099, (2, 300))
    for tensor in (hidden, weight):
        tensor.requires_grad_()
    fast = losses(hidden, weight, targets, 1e-4).objective_sum / 600
    slow = reference(hidden, weight, targets, 1e-4, 0.0) / 600
    assert fast.item() == pytest.approx(slow.item(), rel=1e-6)
    expected = torch.autograd.grad(slow, (hidden, weight))
    for ours, theirs in zip(torch.autograd.grad(fast, (hidden, weight)), expected, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-7, rtol=1e-5)


def test_far_logits_stay_finite() -> None:
    """The textbook softmax-then-log gives infinity here; torch gives 200."""
    hidden = torch.tensor([[[200.0]]], requires_grad=True)
    sums = losses(hidden, torch.tensor([[0.0], [1.0]]), torch.tensor([[0]]), z_weight=1e-4)
    assert float(sums.nll_sum) == pytest.approx(200.0)
    sums.objective_sum.backward()
    assert hidden.grad is not None
    assert torch.isfinite(hidden.grad).all()


def test_nothing_to_predict_is_zero() -> None:
    hidden = torch.randn(1, 3, 4, requires_grad=True)
    sums = losses(hidden, torch.randn(5, 4), torch.full((1, 3), IGNORE_INDEX))
    sums.objective_sum.backward()
    assert float(sums.nll_sum) == 0.0
    assert hidden.grad is not None
    assert not hidden.grad.any()


def test_gradients_are_given_once() -> None:
    hidden = torch.randn(1, 3, 4, requires_grad=True)
    objective = losses(hidden, torch.randn(5, 4), torch.tensor([[0, 1, 2]])).objective_sum
    objective.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="asked for twice"):
        objective.backward()


def test_autocast_multiplies_in_bf16_and_sums_in_fp32() -> None:
    torch.manual_seed(0)
    hidden = torch.randn(1, 50, 16, requires_grad=True)
    weight = torch.randn(40, 16, requires_grad=True)
    targets = torch.randint(0, 40, (1, 50))
    with torch.autocast("cpu", torch.bfloat16):
        sums = losses(hidden, weight, targets)
    exact = reference(hidden, weight, targets, 0.0, 0.0)
    assert sums.objective_sum.dtype == torch.float32
    assert float(sums.objective_sum.detach()) == pytest.approx(float(exact.detach()), rel=1e-2)
    ours = torch.autograd.grad(sums.objective_sum, (hidden, weight))
    for mine, theirs in zip(ours, torch.autograd.grad(exact, (hidden, weight)), strict=True):
        assert mine.dtype == torch.float32
        assert float((mine - theirs).norm() / theirs.norm()) < 0.02


def test_token_nll_is_cross_entropy_per_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss, "_MIN_CHUNK_ROWS", 3)
    monkeypatch.setattr(loss, "_CHUNK_NUMBERS", 1)
    nll = token_nll(LOGITS.float(), torch.eye(7), labels())
    expected = F.cross_entropy(LOGITS.flatten(0, 1), labels().flatten(), reduction="none").view(2, 5)
    torch.testing.assert_close(nll, expected.float(), atol=1e-6, rtol=1e-6)
    assert not nll[labels() == IGNORE_INDEX].any()
