"""The training loop: read it first. Each concern is one named call, in the order in which it happens.

Guarantees: a full evaluation and a save run before step 1, so that neither first fails hours in; the same command
resumes; SIGINT and SIGTERM save and stop with exit code 75; a limit is never exceeded.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from danlu.errors import Stopped
from danlu.log import human, progress
from danlu.plan.plan import Plan
from danlu.recipe import Recipe
from danlu.records import Batch
from danlu.recovery.preempt import Preemption
from danlu.tokens.batches import prefetch
from danlu.train.assemble import assemble
from danlu.train.limits import Limits
from danlu.train.observe import Observer
from danlu.train.state import Trainer
from danlu.train.step import train_step


@dataclass(frozen=True)
class Outcome:
    """How a command's training ended: all of it done, or a limit of the command reached."""

    status: Literal["done", "limit"]
    step: int
    tokens: int
    total_tokens: int


def train(recipe: Recipe, run: Path, plan: Plan, limits: Limits | None = None) -> Outcome:
    """Trains from where the run stands until the plan's end or a limit. Raises Stopped when asked to stop."""
    trainer = assemble(recipe, run, plan)
    with closing(trainer.log), Preemption() as preemption:
        return _loop(trainer, limits or Limits(), preemption)


def _loop(trainer: Trainer, limits: Limits, preemption: Preemption) -> Outcome:
    counters, plan = trainer.counters, trainer.plan
    observer = Observer(trainer)
    observer.before_first_step()
    limit = None
    with (
        progress("train", plan.tokens, "tokens", done=counters.tokens) as bar,
        closing(_batches(trainer)) as batches,
    ):
        while counters.step < plan.steps and not preemption.requested:
            ends = (counters.step + 1, counters.tokens + trainer.recipe.train.batch_tokens)
            if limit := limits.forbid(*ends, observer.next_seconds):
                break
            observer.step_begins()
            batch = next(batches)
            result = train_step(trainer, batch)
            observer.step_ended(batch, result)
            bar.note(f"step {counters.step}, loss {result.loss:.3f}")
            bar.advance(batch.inputs.size)
            observer.evaluate_if_due()
            observer.sample_if_due()
            observer.save_if_due()
    kind = "stopped" if preemption.requested else "limit" if limit else "finished"
    observer.finish(kind, preemption.requested or limit)
    if preemption.requested:
        raise Stopped(
            f"stopped by {preemption.requested} after step {counters.step} "
            f"({human(counters.tokens)} of {human(plan.tokens)} tokens); all is saved in {trainer.run}. "
            f"The same command goes on from there"
        )
    return Outcome("limit" if limit else "done", counters.step, counters.tokens, plan.tokens)


def _batches(trainer: Trainer) -> Generator[Batch, None, None]:
    return prefetch(trainer.batches, first=trainer.counters.step, until=trainer.plan.steps)
