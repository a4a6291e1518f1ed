"""The counters are the whole state of the data."""

from dataclasses import asdict
from pathlib import Path

from danlu.train.assemble import build
from danlu.train.state import Counters
from danlu.train.step import train_step
from small_run import recipe_and_plan


def test_counters_start_at_zero_and_count_what_was_trained_on(prepared: Path) -> None:
    assert asdict(Counters()) == {"step": 0, "samples": 0, "tokens": 0, "seconds": 0.0}
    recipe, plan = recipe_and_plan(prepared)
    trainer = build(recipe, prepared, plan)
    assert trainer.counters == Counters()
    train_step(trainer, trainer.batches.batch(0, 8))
    assert trainer.counters == Counters(step=1, samples=8, tokens=512)
