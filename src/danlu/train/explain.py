"""What a step saw: the documents of any batch, and how hard each was.

The batch is rebuilt from its number alone, so this works for every step of a run, also while it trains.
Costs: one forward pass over the batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from danlu.errors import MissingError
from danlu.plan.plan import Plan
from danlu.recipe import Recipe
from danlu.records import IGNORE_INDEX
from danlu.train.assemble import open_data
from danlu.train.session import Session


@dataclass(frozen=True)
class SeenDocument:
    """A document's part in one step: where it came from, how many tokens, and their mean loss in nats."""

    domain: str
    id: str
    source: str
    start: int
    end: int
    tokens: int
    loss: float


def explain_step(recipe: Recipe, run: Path, plan: Plan, step: int, session: Session) -> list[SeenDocument]:
    """The documents of a step with their losses under the session's weights, hardest first."""
    if not 1 <= step <= plan.steps:
        raise MissingError(f"{run} has no step {step}; its plan has steps 1 to {plan.steps}")
    batches = open_data(recipe, run, session.codec, plan.stages)
    batch = batches.step(step - 1)
    losses = session.token_losses(batch)
    sums: dict[tuple[str, int], list[float]] = {}
    for row, sample in enumerate(batch.samples):
        at = 0
        for piece in sample.pieces:
            span = slice(at, at + piece.length)
            valid = batch.labels[row, span] != IGNORE_INDEX
            total = sums.setdefault((piece.domain, piece.document), [0.0, 0, 0])
            total[0] += float(losses[row, span][valid].sum(dtype=np.float64))
            total[1] += int(valid.sum())
            total[2] += piece.length
            at += piece.length
    seen = []
    for (domain, number), (loss, targets, tokens) in sums.items():
        origin = batches.documents[domain].provenance(number)
        seen.append(
            SeenDocument(
                domain=domain,
                id=str(origin["id"]),
                source=str(origin["source"]),
                start=int(origin["start"]),
                end=int(origin["end"]),
                tokens=int(tokens),
                loss=loss / max(targets, 1),
            )
        )
    return sorted(seen, key=lambda document: -document.loss)


def worst_step(rows: list[dict[str, float]], window: int = 16) -> int | None:
    """The logged step whose loss stands furthest above the median of its neighbours; None without enough rows."""
    if len(rows) < 2 * window:
        return None
    losses = np.array([row["loss"] for row in rows], dtype=np.float64)
    above = [
        losses[i] - np.median(losses[max(0, i - window) : i + window + 1]) for i in range(window, len(losses))
    ]
    return int(rows[window + int(np.argmax(above))]["step"])
