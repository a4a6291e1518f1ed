"""What may change between two commands on one run, and what makes it another training."""

from pathlib import Path
from typing import Any

import pytest

from danlu.errors import MismatchError
from danlu.recipe import parse
from danlu.train.identity import identity, require_same
from small_run import tables


def of(**changes: Any) -> dict[str, Any]:
    return identity(parse(tables(**changes)), total_tokens=1000, data="d", tokenizer="t")


@pytest.mark.parametrize(
    "change",
    [
        {"train__micro_batch": 4},
        {"train__device": "cpu"},
        {"train__compile": False},
        {"checkpoint__every_steps": 3},
        {"evaluate__every_steps": 5},
    ],
    ids=str,
)
def test_free_keys(change: dict[str, Any]) -> None:
    require_same(of(), of(**change), Path("runs/small"))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"train__sequence_length": 32}, "train.sequence_length: 64 -> 32"),
        ({"optimizer__learning_rate": 0.02}, "optimizer.learning_rate"),
        ({"model__width": 64}, "model.width"),
        ({"mixture__max_epochs": 9.0}, "mixture.max_epochs"),
    ],
    ids=str,
)
def test_decisive_keys_are_named(change: dict[str, Any], named: str) -> None:
    with pytest.raises(MismatchError, match="runs/small") as error:
        require_same(of(), of(**change), Path("runs/small"))
    assert named in str(error.value)


def test_another_length_or_other_data_is_another_training() -> None:
    recipe = parse(tables())
    base = identity(recipe, 1000, "d", "t")
    for other in (
        identity(recipe, 2000, "d", "t"),
        identity(recipe, 1000, "e", "t"),
        identity(recipe, 1000, "d", "u"),
    ):
        with pytest.raises(MismatchError):
            require_same(base, other, Path("runs/small"))


def test_a_key_that_came_after_the_checkpoint_had_its_default_then() -> None:
    saved = of()
    del saved["optimizer"]["momentum"], saved["loss"], saved["model"]["rope"]
    require_same(saved, of(), Path("runs/small"))
    with pytest.raises(MismatchError, match=r"momentum: 0\.95 -> 0\.5"):
        require_same(saved, of(optimizer__momentum=0.5), Path("runs/small"))
