"""What may change between two commands on one run, and what makes it another training."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from danlu.errors import MismatchError
from danlu.mixture.stages import PlannedStage
from danlu.recipe import parse
from danlu.train.identity import identity, require_same
from small_run import tables

STAGES = (
    PlannedStage(10, 64, "best_fit", True, True, {"code": 0.7, "prose": 0.3}),
    PlannedStage(20, 64, "best_fit", True, True, {"code": 0.1, "prose": 0.9}),
)
DATA = {"code": "c", "prose": "p"}


def of(stages: Any = STAGES, data: Any = DATA, tokenizer: str = "t", **changes: Any) -> dict[str, Any]:
    return identity(parse(tables(**changes)), stages, "", data, tokenizer)


def same(saved: dict[str, Any], now: dict[str, Any], step: int = 15) -> None:
    require_same(saved, now, Path("runs/small"), step)


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
    same(of(), of(**change))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"optimizer__learning_rate": 0.02}, "optimizer.learning_rate"),
        ({"model__width": 64}, "model.width"),
        (
            {"stages": (replace(STAGES[0], sequence_length=32), STAGES[1])},
            "stages.1.sequence_length: 64 -> 32",
        ),
        ({"stages": (STAGES[0], replace(STAGES[1], packing="chunk"))}, "stages.2.packing"),
        ({"stages": (STAGES[0], replace(STAGES[1], weights={"code": 1.0}))}, "stages.2.weights.code"),
        (
            {"stages": (replace(STAGES[0], steps=12), replace(STAGES[1], steps=18))},
            "stages.1.steps: 10 -> 12",
        ),
        ({"stages": STAGES[:1]}, "train.total_tokens"),
        ({"data": {"code": "c", "prose": "q"}}, "data.prose: 'p' -> 'q'"),
        ({"tokenizer": "u"}, "tokenizer: 't' -> 'u'"),
    ],
    ids=str,
)
def test_decisive_keys_are_named(change: dict[str, Any], named: str) -> None:
    with pytest.raises(MismatchError, match="runs/small") as error:
        same(of(), of(**change))
    assert named in str(error.value)


def test_what_has_not_begun_may_change() -> None:
    """Stages after the checkpoint, and the text of domains that only they read."""
    news = PlannedStage(14, 32, "chunk", True, True, {"math": 1.0})
    later = (STAGES[0], replace(STAGES[1], steps=6), news)
    same(of(), of(later, {**DATA, "math": "m"}))
    same(of(later, {**DATA, "math": "m"}), of(later, {**DATA, "math": "other"}), step=16)
    with pytest.raises(MismatchError, match=r"data.math"):
        same(of(later, {**DATA, "math": "m"}), of(later, {**DATA, "math": "other"}), step=17)
    with pytest.raises(MismatchError, match=r"stages.2.steps: 6 -> 5"):
        same(of(later), of((STAGES[0], replace(STAGES[1], steps=5), replace(news, steps=15))), step=16)


def test_a_key_that_came_after_the_checkpoint_had_its_default_then() -> None:
    saved = of()
    del saved["optimizer"]["momentum"], saved["loss"], saved["model"]["rope"]
    same(saved, of())
    with pytest.raises(MismatchError, match=r"momentum: 0\.95 -> 0\.5"):
        same(saved, of(optimizer__momentum=0.5))


@pytest.mark.parametrize("missing", ["stages", "asked"])
def test_a_checkpoint_from_before_there_were_stages_is_named(missing: str) -> None:
    saved = of()
    del saved[missing]
    with pytest.raises(MismatchError, match="of an earlier danlu, which knew no stages"):
        same(saved, of())
