"""The plan: the length in tokens is fixed by what the recipe names, and minutes are held within bounds."""

from pathlib import Path

import pytest

from danlu.errors import RecipeError
from danlu.recipe import parse
from danlu.train.measure import measure_plan
from small_run import recipe_and_plan, tables


def test_steps_and_tokens_give_whole_steps(prepared: Path) -> None:
    recipe, plan = recipe_and_plan(prepared)
    assert (plan.steps, plan.tokens) == (40, 40 * 512)
    assert plan.tokens_per_second is not None
    assert plan.tokens_per_second > 0
    assert plan.expected_seconds == pytest.approx(plan.tokens / plan.tokens_per_second)
    train = recipe.train.model_copy(update={"steps": None, "tokens": 5 * 512 + 100})
    assert measure_plan(recipe.model_copy(update={"train": train}), prepared).steps == 5


def test_minutes_stay_within_the_bounds(prepared: Path) -> None:
    changed = tables()
    del changed["train"]["steps"]
    changed["train"]["minutes"] = 1000.0
    changed["plan"] = {"min_tokens": 1024, "max_tokens": 4096}
    assert measure_plan(parse(changed), prepared).tokens == 4096
    changed["train"]["minutes"] = 1e-9
    assert measure_plan(parse(changed), prepared).tokens == 1024


def test_measuring_writes_nothing(small: Path) -> None:
    before = sorted(path for path in small.rglob("*") if "index" not in path.name)
    measure_plan(recipe_and_plan(small)[0], small)
    assert sorted(path for path in small.rglob("*") if "index" not in path.name) == before


def test_a_rehearsal_may_be_shorter_than_the_warm_up_and_repeat_a_small_text(prepared: Path) -> None:
    changed = tables(train__steps=100, mixture__max_epochs=8.0)
    changed["schedule"] = {"warmup_tokens": 40 * 512}
    assert measure_plan(parse(changed), prepared).warmup_tokens == 40 * 512
    changed = tables(train__steps=2, train__batch_tokens=8192, mixture__max_epochs=2.0)
    assert measure_plan(parse(changed), prepared).steps == 2


def test_minutes_take_no_more_than_the_text_gives_and_say_so(prepared: Path) -> None:
    changed = tables(mixture={"weights": {}, "max_epochs": 2.0})
    del changed["train"]["steps"]
    changed["train"]["minutes"] = 1000.0
    plan = measure_plan(parse(changed), prepared)
    available = sum(row.available_tokens for row in plan.mixture)
    assert 2 * available - 512 < plan.tokens <= 2 * available
    reason = next(choice.reason for choice in plan.choices if choice.key == "train.tokens")
    assert reason.startswith("as many as mixture.max_epochs = 2 of this text allows; 1000 minutes would be")


def test_a_bound_below_one_step_is_refused_by_name(prepared: Path) -> None:
    changed = tables(plan={"max_tokens": 100})
    del changed["train"]["steps"]
    changed["train"]["minutes"] = 1.0
    with pytest.raises(RecipeError, match=r"plan\.max_tokens = 100 is less than one step"):
        measure_plan(parse(changed), prepared)
