"""One global step: forward and backward over its micro-batches, clip, look once, then move the weights.

Guarantees: the loss is the sum over the global step divided by its number of target tokens, so it does not depend on
the micro-batch; the device is read once, after the gradient norm, and a number that is not finite stops the run
before the optimizer has moved anything. Costs: one device read a step.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from danlu.attention.contract import make_attention
from danlu.errors import InputError
from danlu.model.loss import losses
from danlu.optim.clip import gradient_norm, scale_gradients
from danlu.optim.schedule import rate_factor
from danlu.records import Batch
from danlu.recovery.nonfinite import check_finite
from danlu.train.state import Trainer


@dataclass(frozen=True)
class StepResult:
    """What a step measured. `loss` is the mean negative log-likelihood in nats, without the z-loss."""

    loss: float
    z_loss: float
    gradient_norm: float
    rate_factor: float
    target_tokens: int


def train_step(trainer: Trainer, batch: Batch) -> StepResult:
    """Trains on one global batch and moves the counters. Raises DivergedError with the weights untouched."""
    counters, settings = trainer.counters, trainer.recipe.loss
    target_tokens = _require_targets(batch, counters.step + 1)
    micro_batch = trainer.plan.micro_batch_at(counters.step)
    trainer.optimizer.zero_grad()
    nll = torch.zeros((), device=trainer.device)
    z = torch.zeros((), device=trainer.device)
    for first in range(0, len(batch.inputs), micro_batch):
        rows = slice(first, first + micro_batch)
        inputs, labels, positions = (
            torch.from_numpy(array[rows]).to(trainer.device, non_blocking=True)
            for array in (batch.inputs, batch.labels, batch.positions)
        )
        attention = make_attention(batch.documents[rows], trainer.device)
        with trainer.precision.context():
            hidden = trainer.forward(inputs, positions, attention)
            sums = losses(
                hidden,
                trainer.network.head_weight,
                labels,
                z_weight=settings.z_loss,
                label_smoothing=settings.label_smoothing,
            )
        torch.autograd.backward(sums.objective_sum / target_tokens)
        nll += sums.nll_sum
        z += sums.z_sum
    norm = gradient_norm(trainer.optimizer.parameters)
    nll_sum, z_sum, norm_value = torch.stack([nll, z, norm]).tolist()
    loss = nll_sum / target_tokens
    check_finite(loss, norm_value, counters.step + 1)
    scale_gradients(trainer.optimizer.parameters, norm_value, trainer.recipe.optimizer.clip_norm)
    factor = rate_factor(
        trainer.recipe.schedule,
        counters.tokens,
        batch.inputs.size,
        trainer.plan.tokens,
        trainer.plan.warmup_tokens,
    )
    trainer.optimizer.step(factor)
    counters.step += 1
    counters.samples += len(batch.inputs)
    counters.tokens += batch.inputs.size
    return StepResult(loss, z_sum / target_tokens, norm_value, factor, target_tokens)


def _require_targets(batch: Batch, step: int) -> int:
    """The number of target tokens; InputError where blocked documents have left none."""
    if not batch.target_tokens:
        raise InputError(
            f"step {step} has nothing to learn from: every document in it is blocked. Take some of them out of "
            f"blocked.jsonl, or make train.batch_tokens larger in a new run"
        )
    return batch.target_tokens
