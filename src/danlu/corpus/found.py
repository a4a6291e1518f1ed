"""What deduplication found about the documents of a shard, applied to them on their way into the next round.

Decides: a document that several steps found is dropped by the first in the recipe's order; a text of which cutting
leaves nothing visible is dropped. Costs: a few arrays a shard.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from danlu.account.ledger import CUT_BYTES, EMPTIED, NOTHING_LEFT
from danlu.corpus.carry import Passing
from danlu.corpus.job import IDS, Job, dedups_of
from danlu.dedup.contract import Outcome, apply_cuts, read_outcome


@dataclass(frozen=True, slots=True)
class Found:
    """Why a document goes: the step, the whole reason, and what deduplication compared it with."""

    step: str
    reason: str
    match: int = -1
    """The number of the document that stays in its place."""
    pair: int = -1
    """The number of the document that it was found to be like, which may have gone for `match` itself."""
    similarity: float = math.nan


def apply_found(
    job: Job, number: int, shard: int, arriving: Iterator[Passing]
) -> Iterator[tuple[Passing, Found | None]]:
    """Each document that round `number` left, with its text cut, or with why it goes."""
    places = job.places
    outcomes = [(name, read_outcome(job.dedup_place(name), shard)) for name, _ in dedups_of(job, number)]
    for passing in arriving:
        yield passing, _against(passing, outcomes, places)


def _against(
    passing: Passing, outcomes: list[tuple[str, Outcome]], places: Mapping[str, int]
) -> Found | None:
    index = passing.index
    for name, outcome in outcomes:
        if outcome.dropped[index]:
            what = "repeated" if name == IDS else "duplicate"
            match, pair = int(outcome.match[index]), int(outcome.pair[index])
            return Found(name, f"{name}.{what}", match, pair, float(outcome.similarity[index]))
        if spans := outcome.cuts.get(index):
            before = passing.text
            passing.text = before.with_text(apply_cuts(before.text, spans))
            cut = before.utf8_bytes - passing.text.utf8_bytes if passing.text.text else EMPTIED
            passing.values[places[f"{name}.{CUT_BYTES}"]] = cut
            if not passing.text.text:
                return Found(name, f"{name}.{NOTHING_LEFT}")
    return None
