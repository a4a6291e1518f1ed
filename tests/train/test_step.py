"""One step: its loss and its update do not depend on the micro-batch, and equal the plain formula."""

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from danlu.attention.contract import make_attention
from danlu.records import IGNORE_INDEX
from danlu.train.assemble import build
from danlu.train.state import Trainer
from danlu.train.step import StepResult, train_step
from small_run import recipe_and_plan


def trained(run: Path, micro_batch: int, steps: int = 3) -> tuple[Trainer, list[StepResult]]:
    recipe, plan = recipe_and_plan(run)
    trainer = build(recipe, run, _with_micro_batch(plan, micro_batch))
    return trainer, [train_step(trainer, trainer.batches.step(i)) for i in range(steps)]


def _with_micro_batch(plan, micro_batch):  # type: ignore[no-untyped-def]
    from dataclasses import replace

    return replace(plan, micro_batches=(micro_batch,))


@pytest.mark.parametrize("micro_batch", [1, 3, 5, 8])
def test_micro_batch_does_not_matter(prepared: Path, micro_batch: int) -> None:
    whole, expected = trained(prepared, 8)
    cut, results = trained(prepared, micro_batch)
    for one, other in zip(expected, results, strict=True):
        assert other.loss == pytest.approx(one.loss, abs=1e-5)
        assert other.z_loss == pytest.approx(one.z_loss, rel=1e-4)
        assert other.gradient_norm == pytest.approx(one.gradient_norm, rel=1e-4)
        assert other.target_tokens == one.target_tokens
    assert cut.counters == whole.counters


def test_two_runs_are_bitwise_equal(prepared: Path) -> None:
    one, results = trained(prepared, 2)
    two, again = trained(prepared, 2)
    assert results == again
    for (name, a), (_, b) in zip(one.network.named_parameters(), two.network.named_parameters(), strict=True):
        assert a.equal(b), name


def test_loss_is_the_mean_over_target_tokens(prepared: Path) -> None:
    recipe, plan = recipe_and_plan(prepared)
    trainer = build(recipe, prepared, plan)
    batch = trainer.batches.step(0)
    inputs, labels, positions = (torch.from_numpy(a) for a in (batch.inputs, batch.labels, batch.positions))
    with torch.no_grad():
        hidden = trainer.network(inputs, positions, make_attention(batch.documents, trainer.device))
        logits = hidden @ trainer.network.head_weight.T
        expected = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORE_INDEX)
    result = train_step(trainer, batch)
    assert result.loss == pytest.approx(float(expected), abs=1e-5)
    assert result.target_tokens == int((labels != IGNORE_INDEX).sum())
    assert (trainer.counters.step, trainer.counters.samples, trainer.counters.tokens) == (1, 8, 512)
