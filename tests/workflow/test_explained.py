"""The worst step is found, its documents are measured, and both are kept."""

from pathlib import Path

from danlu.files import read_json
from danlu.train.limits import Limits
from danlu.train.loop import train
from danlu.workflow.explained import explain_worst_step
from danlu.workflow.run import load_run
from small_run import recipe_and_plan


def test_worst_step_with_its_documents(small: Path) -> None:
    recipe, plan = recipe_and_plan(small)
    train(recipe, small, plan, Limits(steps=5))
    run = load_run(small)
    assert explain_worst_step(run) == {"step": None, "documents": []}
    train(recipe, small, plan)
    explained = explain_worst_step(run)
    assert 16 < explained["step"] <= 40
    assert explained["documents"]
    assert all(document["source"].startswith(("code/", "prose/")) for document in explained["documents"])
    assert read_json(small / "explained.json") == explained
