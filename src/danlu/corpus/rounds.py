"""The list of steps cut into rounds: what one pass over a shard can do before documents must be compared with others.

Decides: a round applies what deduplication before it found, runs steps that see one document, and signs for the
deduplication after it. Whole-document steps that stand one after another are signed in one round, since a signature
depends on the text alone; a step that cuts text ends its round. Costs: each round reads and writes the corpus once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from danlu.account.ledger import CUT_BYTES
from danlu.corpus.settings import Step, name_of
from danlu.dedup.settings import Boilerplate, Exact, SharedStep, Substrings

STOPS = frozenset({"normalize", "url", "language", "decontaminate"})
"""After a drop by one of these nothing more is measured. After one by a rule it is, so that thresholds can be tuned."""


@dataclass(frozen=True)
class Round:
    """`local` steps, then signatures for `dedups`."""

    local: tuple[Step, ...]
    dedups: tuple[SharedStep, ...]


def plan_rounds(steps: Sequence[Step]) -> tuple[Round, ...]:
    """The rounds, at least two, since ids are compared after the first; the last signs for nothing."""
    rounds: list[Round] = []
    local: list[Step] = []
    dedups: list[SharedStep] = []
    for step in steps:
        shared = isinstance(step, SharedStep)
        if dedups and (not shared or cuts(dedups[-1])):
            rounds.append(Round(tuple(local), tuple(dedups)))
            local, dedups = [], []
        if isinstance(step, SharedStep):
            dedups.append(step)
        else:
            local.append(step)
    rounds.append(Round(tuple(local), tuple(dedups)))
    return (*rounds, Round((), ())) if dedups or len(rounds) == 1 else tuple(rounds)


def cuts(step: SharedStep) -> bool:
    """Whether a step removes parts of texts rather than whole documents."""
    return isinstance(step, (Substrings, Boilerplate)) or (
        isinstance(step, Exact) and step.unit != "document"
    )


def module_of(step: Any) -> ModuleType:
    """The module of a step that sees one document: MEASURES, measure, decide, and REWRITES where it changes texts.

    It is named as the step is used, and lies in the folder of its settings: danlu.rules.settings.C4 (use = "c4") is
    measured by danlu.rules.c4.
    """
    return import_module(f"{type(step).__module__.rpartition('.')[0]}.{step.use}")


def columns_of(step: Any) -> list[str]:
    """The ledger's columns of a step: what it measures, and what it cuts where it does."""
    if isinstance(step, SharedStep):
        measures: Sequence[str] = ()
        rewrites = cuts(step)
    else:
        module = module_of(step)
        measures, rewrites = module.MEASURES, getattr(module, "REWRITES", False)
    return [f"{name_of(step)}.{name}" for name in (*measures, *((CUT_BYTES,) if rewrites else ()))]
