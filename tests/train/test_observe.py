"""What is written around the steps: a first evaluation and save, metrics, samples, saves when they are due."""

from pathlib import Path

from danlu.checkpoint.steps import list_steps
from danlu.monitor.history import read_evaluations, read_events, read_metrics, read_samples
from danlu.train.limits import Limits
from danlu.train.loop import train
from small_run import recipe_and_plan


def changed(run: Path, **sections: dict[str, object]):  # type: ignore[no-untyped-def]
    recipe, plan = recipe_and_plan(run)
    for section, values in sections.items():
        old = getattr(recipe, section)
        recipe = recipe.model_copy(update={section: old.model_copy(update=values)})
    return recipe, plan


def test_evaluation_and_save_run_before_the_first_step(small: Path) -> None:
    recipe, plan = recipe_and_plan(small)
    train(recipe, small, plan, Limits(steps=0))
    assert list_steps(small / "checkpoints") == [0]
    assert [(row["step"], row["domain"]) for row in read_evaluations(small)] == [(0, "code"), (0, "prose")]
    train(recipe, small, plan, Limits(steps=1))
    assert [row["step"] for row in read_evaluations(small)] == [0, 0], "a resume does not evaluate again"


def test_evaluations_and_samples_when_due(small: Path) -> None:
    recipe, plan = changed(
        small, evaluate={"every_steps": 3}, monitor={"samples": ["def"], "sample_tokens": 4}
    )
    train(recipe, small, plan, Limits(steps=7))
    assert sorted({row["step"] for row in read_evaluations(small)}) == [0, 3, 6]
    samples = read_samples(small)
    assert [row["step"] for row in samples] == [0, 4]
    assert {row["prompt"] for row in samples} == {"def"}


def test_saves_when_due_by_tokens(small: Path) -> None:
    recipe, plan = changed(small, checkpoint={"every_steps": 0, "every_tokens": 4 * 512, "keep_last": 9})
    train(recipe, small, plan, Limits(steps=10))
    assert list_steps(small / "checkpoints") == [0, 4, 8, 10]


def test_metrics_have_every_step_and_what_it_cost(small: Path) -> None:
    recipe, plan = changed(small, monitor={"log_every_steps": 2})
    train(recipe, small, plan, Limits(steps=5))
    rows = read_metrics(small)
    assert [row["step"] for row in rows] == [2, 4]
    assert [row["tokens"] for row in rows] == [1024, 2048]
    assert all(row["tokens_per_second"] > 0 and row["grad_norm"] > 0 for row in rows)
    assert 0 < rows[0]["learning_rate"] <= plan.learning_rate
    assert [event["kind"] for event in read_events(small)][-1] == "limit"


def test_the_end_of_the_plan_is_measured_and_sampled(small: Path) -> None:
    monitor = {"samples": ["def"], "sample_tokens": 2, "sample_shares": [0.0, 0.3, 1.0]}
    recipe, plan = changed(small, evaluate={"every_steps": 15}, monitor=monitor)
    train(recipe, small, plan)
    assert [row["step"] for row in read_samples(small)] == [0, 12, 40]
    assert read_samples(small)[-1]["share"] == 1.0
    assert sorted({row["step"] for row in read_evaluations(small)}) == [0, 15, 30, 40]
