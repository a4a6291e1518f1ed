"""What happens around the steps: metrics, periodic evaluation and samples, saves, the check of replayed steps.

Decides when each is due. Guarantee: nothing here moves a weight. Costs: written down in seconds, apart from the
training itself, so that tokens/s tells the truth.
"""

from __future__ import annotations

import time

import numpy as np

from danlu.checkpoint.retain import prune
from danlu.checkpoint.save import save
from danlu.evaluate.bits import Evaluation, evaluate_domain
from danlu.generate.sample import generate
from danlu.log import say
from danlu.monitor.history import read_metrics
from danlu.monitor.memory import peak_bytes
from danlu.records import Batch
from danlu.recovery.replay import ReplayCheck
from danlu.tokens.validation import validation_batches
from danlu.train.infer import next_logits, token_losses
from danlu.train.state import Trainer
from danlu.train.step import StepResult


class Observer:
    """Watches one trainer: `step_begins`/`step_ended` around each step, `..._if_due` after it."""

    def __init__(self, trainer: Trainer) -> None:
        self._trainer = trainer
        self.step_seconds = 0.0
        self._began = time.monotonic()
        self._saved_at = (trainer.counters.step, trainer.counters.tokens, time.monotonic())
        logged = {row["step"]: row["loss"] for row in read_metrics(trainer.run)}
        self._replay = ReplayCheck({s: v for s, v in logged.items() if s > trainer.counters.step})

    def before_first_step(self) -> None:
        """A full evaluation, samples and a save before step 1; after a resume they are there already."""
        if self._trainer.counters.step == 0:
            self.evaluate(full=True)
            self.save()

    def step_begins(self) -> None:
        """Starts the clock of a step."""
        self._began = time.monotonic()

    def step_ended(self, batch: Batch, result: StepResult) -> None:
        """Logs the step and compares it with its first life, where a resume replays it."""
        trainer, counters = self._trainer, self._trainer.counters
        self.step_seconds = time.monotonic() - self._began
        counters.seconds += self.step_seconds
        outcome = self._replay.see(counters.step, result.loss)
        if outcome is not None:
            trainer.log.event("replayed", **outcome)
            say(
                f"  replayed {outcome['steps']} steps: {outcome['equal']} losses equal to the logged ones bit for bit"
            )
        if counters.step % trainer.recipe.monitor.log_every_steps == 0 or counters.step == trainer.plan.steps:
            trainer.log.metrics(
                counters.step,
                tokens=counters.tokens,
                loss=result.loss,
                z_loss=result.z_loss,
                grad_norm=result.gradient_norm,
                learning_rate=result.rate_factor * trainer.plan.learning_rate,
                target_tokens=result.target_tokens,
                tokens_per_second=batch.inputs.size / max(self.step_seconds, 1e-9),
                seconds=counters.seconds,
            )

    def evaluate_if_due(self) -> None:
        """Validation loss per domain and samples, every so many steps."""
        every = self._trainer.recipe.evaluate.every_steps
        step = self._trainer.counters.step
        if every and step % every == 0 and step < self._trainer.plan.steps:
            self.evaluate(full=False)

    def evaluate(self, full: bool) -> list[Evaluation]:
        """Measures every domain's validation text, all of it or the recipe's share, and continues the prompts."""
        trainer = self._trainer
        limit = None if full else trainer.recipe.evaluate.max_tokens
        results = evaluate_trainer(trainer, limit)
        for result in results:
            trainer.log.evaluation(
                step=trainer.counters.step, tokens_seen=trainer.counters.tokens, result=result
            )
        for prompt in trainer.recipe.monitor.samples:
            text = generate(
                lambda ids: next_logits(trainer.network, trainer.precision, trainer.device, ids),
                trainer.codec,
                prompt,
                tokens=trainer.recipe.monitor.sample_tokens,
                temperature=0.8,
                seed=trainer.recipe.seed,
            )
            share = trainer.counters.tokens / trainer.plan.tokens
            trainer.log.sample(step=trainer.counters.step, share=share, prompt=prompt, text=text)
        return results

    def save_if_due(self) -> None:
        """Every so many steps, tokens or minutes since the last save."""
        settings, counters = self._trainer.recipe.checkpoint, self._trainer.counters
        _, tokens, when = self._saved_at
        if (
            (settings.every_steps and counters.step % settings.every_steps == 0)
            or (settings.every_tokens and counters.tokens - tokens >= settings.every_tokens)
            or (settings.every_minutes and time.monotonic() - when >= settings.every_minutes * 60)
        ):
            self.save()

    def save(self) -> None:
        """Saves now, unless this step is saved already."""
        trainer, counters = self._trainer, self._trainer.counters
        directory = trainer.run / "checkpoints"
        if self._saved_at[0] == counters.step and counters.step > 0:
            return
        began = time.monotonic()
        save(
            directory,
            counters.step,
            {
                "model": dict(trainer.network.state_dict()),
                "optimizer": trainer.optimizer.state_tensors(),
            },
            {
                "samples": counters.samples,
                "tokens": counters.tokens,
                "seconds": counters.seconds,
                "identity": trainer.identity,
            },
        )
        prune(directory, trainer.recipe.checkpoint)
        self._saved_at = (counters.step, counters.tokens, time.monotonic())
        trainer.log.event("saved", step=counters.step, seconds=round(time.monotonic() - began, 3))

    def finish(self, reason: str | None) -> None:
        """The last save; the event says whether the plan or a limit ended the training."""
        self.save()
        kind = "limit" if reason else "finished"
        step = self._trainer.counters.step
        self._trainer.log.event(kind, step=step, reason=reason, peak_memory_bytes=peak_bytes())


def evaluate_trainer(trainer: Trainer, max_tokens: int | None) -> list[Evaluation]:
    """Loss, perplexity and bits per byte of each domain's validation text."""
    length = trainer.recipe.train.sequence_length
    rows = max(1, min(trainer.batch_sequences, trainer.plan.micro_batch))

    def measure(batch: Batch) -> np.ndarray:
        return token_losses(trainer.network, trainer.precision, trainer.device, batch)

    return [
        evaluate_domain(
            measure,
            domain,
            validation_batches(
                trainer.run / "tokens", domain, length, max_tokens, rows, trainer.codec.pad_id
            ),
            trainer.codec.token_bytes(),
        )
        for domain in trainer.batches.domains
    ]
