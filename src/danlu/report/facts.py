"""What the report knows of a run, and the few numbers that several of its sections share.

Costs: passes over rows that are in memory already.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from danlu.account.funnel import Funnel
from danlu.log import human, human_seconds
from danlu.plan.plan import Plan

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Facts:
    """The contents of the run's files; `problems` says by file name why one is not there."""

    name: str
    recipe: str | None = None
    funnel: Funnel | None = None
    plan: Plan | None = None
    metrics: Sequence[Row] = ()
    evaluations: Sequence[Row] = ()
    events: Sequence[Row] = ()
    samples: Sequence[Row] = ()
    export: Row | None = None
    explained: Row | None = None
    demo: Row | None = None
    problems: Mapping[str, str] = field(default_factory=dict)


def newest_by_domain(facts: Facts) -> list[Row]:
    """Each domain's newest evaluation; rows come by ascending step."""
    newest = {row["domain"]: row for row in facts.evaluations}
    return [newest[domain] for domain in sorted(newest)]


def median_speed(facts: Facts) -> float | None:
    """Tokens a second of the median step: the first ones, which warm up, and hiccups do not count."""
    speeds = [row["tokens_per_second"] for row in facts.metrics if row.get("tokens_per_second")]
    return statistics.median(speeds) if speeds else None


def peak_memory(facts: Facts) -> float | None:
    """The largest memory that was logged, in bytes."""
    rows = (*facts.metrics, *facts.events)
    return max((row["peak_memory_bytes"] for row in rows if row.get("peak_memory_bytes")), default=None)


def tally_text(facts: Facts) -> str:
    """The run in one sentence, for under the title."""
    if not facts.metrics:
        return "This run has not trained yet."
    last = facts.metrics[-1]
    done = f"Step {last['step']:,}"
    if facts.plan is not None:
        share = last["step"] / facts.plan.steps
        done = f"{'Finished' if share >= 1 else f'{share:.0%} done'}: step {last['step']:,} of {facts.plan.steps:,}"
        done += f", {human(facts.plan.parameters)} parameters"
    parts = [done, f"{human(last['tokens'])} tokens"]
    if last.get("seconds"):
        parts.append(f"{human_seconds(last['seconds'])} of training")
    return ", ".join(parts) + "."
