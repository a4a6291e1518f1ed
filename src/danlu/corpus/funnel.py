"""The funnel of a corpus: what was read, what each step dropped and why, what is kept where.

Guarantees: documents read = dropped + kept, for every domain. Costs: a few counters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from danlu.errors import DamagedError


@dataclass(frozen=True, slots=True)
class Count:
    """How many documents, and how many bytes of UTF-8 text in them."""

    documents: int = 0
    bytes: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.documents + other.documents, self.bytes + other.bytes)


Counts = dict[str, Count]


@dataclass(frozen=True, slots=True)
class Funnel:
    """The counts of one build. `dropped` is by domain and reason ("step.what"), `kept` by split and domain."""

    steps: tuple[str, ...]
    read: Mapping[str, Count]
    dropped: Mapping[str, Mapping[str, Count]]
    damaged: Mapping[str, int]
    kept: Mapping[str, Mapping[str, Count]]

    def total_read(self) -> Count:
        """Over all domains."""
        return sum(self.read.values(), Count())

    def total_dropped(self) -> Counts:
        """By reason, over all domains, in the order of the steps."""
        total: Counts = {}
        for reasons in self.dropped.values():
            for reason, count in reasons.items():
                total[reason] = total.get(reason, Count()) + count
        order = {step: place for place, step in enumerate(self.steps)}
        return dict(sorted(total.items(), key=lambda item: (order[item[0].partition(".")[0]], item[0])))

    def total_kept(self, split: str | None = None) -> Count:
        """Over all domains of one split, or of both."""
        splits = [split] if split else list(self.kept)
        return sum((count for name in splits for count in self.kept.get(name, {}).values()), Count())

    def to_json(self) -> dict[str, Any]:
        """Plain values for a JSON file; `from_json` is the way back."""
        return {
            "steps": list(self.steps),
            "read": _plain(self.read),
            "dropped": {domain: _plain(reasons) for domain, reasons in self.dropped.items()},
            "damaged": dict(self.damaged),
            "kept": {split: _plain(domains) for split, domains in self.kept.items()},
        }


def from_json(value: Any) -> Funnel:
    """A funnel of `to_json`. Raises DamagedError where it is not one."""
    try:
        return Funnel(
            tuple(value["steps"]),
            _counts(value["read"]),
            {domain: _counts(reasons) for domain, reasons in value["dropped"].items()},
            {str(reason): int(number) for reason, number in value["damaged"].items()},
            {split: _counts(domains) for split, domains in value["kept"].items()},
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DamagedError(
            f"the funnel of the corpus is not readable ({error!r}); build the corpus again"
        ) from error


def _plain(counts: Mapping[str, Count]) -> dict[str, dict[str, int]]:
    return {name: {"documents": count.documents, "bytes": count.bytes} for name, count in counts.items()}


def _counts(value: Mapping[str, Mapping[str, int]]) -> Counts:
    return {name: Count(int(count["documents"]), int(count["bytes"])) for name, count in value.items()}
