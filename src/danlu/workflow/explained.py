"""The worst step of a run and the documents that it saw, kept in explained.json.

Decides: the worst step is the one whose loss stands furthest above its neighbours'; the losses of its documents are
measured with the newest weights, hardest first. Costs: one forward pass over one batch; torch is imported only then.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from danlu.files import write_json
from danlu.monitor.history import read_metrics
from danlu.workflow.run import Run

EXPLAINED = "explained.json"


def explain_worst_step(run: Run) -> dict[str, Any]:
    """Finds the worst step, measures its documents and stores both; the step is None in a run too short to tell."""
    from danlu.plan.plan import read_plan
    from danlu.train.explain import explain_step, worst_step
    from danlu.train.session import open_session

    rows = read_metrics(run.directory)
    step = worst_step(rows)
    if step is None:
        explained: dict[str, Any] = {"step": None, "documents": []}
        write_json(run.directory / EXPLAINED, explained)
        return explained
    session = open_session(run.recipe, run.directory)
    plan = read_plan(run.directory / "plan.json")
    seen = explain_step(run.recipe, run.directory, plan, step, session)
    loss = next(row["loss"] for row in rows if row["step"] == step)
    explained = {"step": step, "loss": loss, "documents": [asdict(document) for document in seen]}
    write_json(run.directory / EXPLAINED, explained)
    return explained
