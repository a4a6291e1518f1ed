"""The documents of a step are those that the step was trained on, hardest first."""

from collections import Counter
from pathlib import Path

import pytest

from danlu.errors import MissingError
from danlu.train.assemble import open_data
from danlu.train.explain import explain_step, worst_step
from danlu.train.limits import Limits
from danlu.train.loop import train
from danlu.train.session import open_session
from small_run import recipe_and_plan


def test_documents_of_a_step(small: Path) -> None:
    recipe, plan = recipe_and_plan(small)
    train(recipe, small, plan, Limits(steps=3))
    session = open_session(recipe, small)
    seen = explain_step(recipe, small, plan, 2, session)
    batches = open_data(recipe, small, session.codec, plan.stages)
    expected: Counter[str] = Counter()
    for piece in (piece for number in range(8, 16) for piece in batches.pieces(number)):
        expected[str(batches.documents[piece.domain].provenance(piece.document)["id"])] += piece.length
    assert {document.id: document.tokens for document in seen} == expected
    assert [document.loss for document in seen] == sorted((d.loss for d in seen), reverse=True)
    assert all(document.source.endswith((".py", ".txt")) for document in seen)
    for step in (0, plan.steps + 1):
        with pytest.raises(MissingError, match="steps 1 to 40"):
            explain_step(recipe, small, plan, step, session)


def test_worst_step_stands_above_its_neighbours_not_at_the_start() -> None:
    rows = [{"step": step, "loss": 5.0 - 0.02 * step} for step in range(1, 101)]
    rows[70]["loss"] += 0.5
    assert worst_step(rows) == 71
    assert worst_step(rows[:10]) is None
