"""What happens around the steps: metrics, periodic evaluation and samples, saves, the check of replayed steps.

Decides when each is due. Guarantee: nothing here moves a weight. Costs: written down in seconds, apart from the
training itself, so that tokens/s tells the truth.
"""

from __future__ import annotations

import time

from danlu.checkpoint.retain import prune
from danlu.checkpoint.save import save
from danlu.generate.sample import generate
from danlu.log import say
from danlu.monitor.history import read_metrics
from danlu.monitor.memory import peak_bytes
from danlu.records import Batch
from danlu.recovery.replay import ReplayCheck
from danlu.shards.documents import DomainDocuments
from danlu.train.infer import Floats, next_logits, token_losses
from danlu.train.state import Trainer
from danlu.train.step import StepResult
from danlu.train.validate import Validation, held_out


class Observer:
    """Watches one trainer: `step_begins`/`step_ended` around each step, `..._if_due` after it."""

    def __init__(self, trainer: Trainer) -> None:
        self._trainer = trainer
        self.step_seconds = 0.0
        self._began = time.monotonic()
        self._saved_at = (trainer.counters.step, trainer.counters.tokens, time.monotonic())
        self._validation: Validation | None = None
        self._held_out: dict[str, DomainDocuments] | None = None
        self._reserve = {"save": 0.0, "evaluation": 0.0}
        logged = {row["step"]: row["loss"] for row in read_metrics(trainer.run)}
        self._replay_told = False
        self._replay = ReplayCheck({s: v for s, v in logged.items() if s > trainer.counters.step})

    def before_first_step(self) -> None:
        """A full evaluation, samples and a save before step 1; after a resume they are there already."""
        if self._trainer.counters.step == 0:
            self.evaluate(full=True)
            if self._trainer.recipe.evaluate.every_steps:
                self.evaluate(full=False)
            self.sample_if_due()
            self.save()

    def step_begins(self) -> None:
        """Starts the clock of a step."""
        self._began = time.monotonic()

    def step_ended(self, batch: Batch, result: StepResult) -> None:
        """Logs the step and compares it with its first life, where a resume replays it."""
        trainer, counters = self._trainer, self._trainer.counters
        self.step_seconds = time.monotonic() - self._began
        counters.seconds += self.step_seconds
        if self._replay.see(counters.step, result.loss):
            self._tell_replay()
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

    @property
    def next_seconds(self) -> float:
        """How long the next step may take with what would follow it, from the last time of each."""
        return (
            self.step_seconds + self._reserve["save"] + self._reserve["evaluation"] * self._evaluation_is_next
        )

    @property
    def _evaluation_is_next(self) -> bool:
        return self._evaluates_at(self._trainer.counters.step + 1)

    def _evaluates_at(self, step: int) -> bool:
        every = self._trainer.recipe.evaluate.every_steps
        return every > 0 and (step % every == 0 or step == self._trainer.plan.steps)

    def evaluate_if_due(self) -> None:
        """Validation loss per domain, every so many steps and at the planned end."""
        if self._evaluates_at(self._trainer.counters.step):
            self.evaluate(full=False)

    def evaluate(self, full: bool) -> None:
        """Measures every domain's validation text: all of it, or as much as the recipe says."""
        trainer, began = self._trainer, time.monotonic()
        for result in self._opened(full).measure(self._token_losses):
            trainer.log.evaluation(
                step=trainer.counters.step, tokens_seen=trainer.counters.tokens, result=result, whole=full
            )
        self._reserve["evaluation"] = time.monotonic() - began

    def _opened(self, full: bool) -> Validation:
        trainer = self._trainer
        if self._held_out is None:
            self._held_out = held_out(trainer.recipe, trainer.run, trainer.codec)
        where = self._held_out, trainer.codec, trainer.plan.sequence_length
        if full:
            return Validation(*where, max_tokens=None)
        if self._validation is None:
            self._validation = Validation(*where, max_tokens=trainer.recipe.evaluate.max_tokens)
        return self._validation

    def _token_losses(self, batch: Batch) -> Floats:
        trainer = self._trainer
        return token_losses(trainer.network, trainer.precision, trainer.device, batch)

    def sample_if_due(self) -> None:
        """Continues the recipe's prompts at its shares of the training."""
        trainer = self._trainer
        shares = trainer.recipe.monitor.sample_shares
        if trainer.counters.step not in {round(share * trainer.plan.steps) for share in shares}:
            return
        context = trainer.plan.length_at(trainer.counters.step)
        for prompt in trainer.recipe.monitor.samples:
            text = generate(
                lambda ids: next_logits(trainer.network, trainer.precision, trainer.device, ids[-context:]),
                trainer.codec,
                prompt,
                tokens=trainer.recipe.monitor.sample_tokens,
                temperature=0.8,
                seed=trainer.recipe.seed,
            )
            share = trainer.counters.tokens / trainer.plan.tokens
            trainer.log.sample(step=trainer.counters.step, share=share, prompt=prompt, text=text)

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
        self._reserve["save"] = time.monotonic() - began
        trainer.log.event("saved", step=counters.step, seconds=round(self._reserve["save"], 3))

    def finish(self, kind: str, reason: str | None = None) -> None:
        """The last save; the event says whether the plan, a limit or a signal ended this training."""
        self.save()
        if self._replay.replayed and not self._replay_told:
            self._tell_replay()
        step = self._trainer.counters.step
        self._trainer.log.event(kind, step=step, reason=reason, peak_memory_bytes=peak_bytes())

    def _tell_replay(self) -> None:
        result = self._replay.result()
        self._replay_told = True
        self._trainer.log.event("replayed", **result)
        say(
            f"  replayed {result['steps']} steps: {result['equal']} losses equal to the logged ones bit for bit"
        )
        if result["different"]:
            say(
                f"  NOT equal at steps {', '.join(map(str, result['different'][:8]))}: this machine computes otherwise"
            )
