"""A step of the recipe as the ledger knows it: its settings, what it measured, and how it decides from that.

Guarantee: nothing but the step's own `decide`, and whether it left any text, says what is kept. Costs: nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from danlu.account.ledger import CUT_BYTES, EMPTIED, NOTHING_LEFT
from danlu.config import Section

_PROBED = (0.0, 0.5, 1.0, 1e9)


@dataclass(frozen=True, slots=True)
class Step:
    """`module` has MEASURES and `decide`; it is None for deduplication, which no document's own measures decide."""

    name: str
    """What its reasons and columns begin with."""
    settings: Section
    module: ModuleType | None

    @property
    def measures(self) -> tuple[str, ...]:
        """What it stores of a document."""
        return tuple(self.module.MEASURES) if self.module else ()

    @property
    def columns(self) -> list[str]:
        """The ledger's columns of its measures."""
        return [f"{self.name}.{measure}" for measure in self.measures]

    @property
    def cut_column(self) -> str:
        """The ledger's column of what it cuts; there is none where it never does."""
        return f"{self.name}.{CUT_BYTES}"

    @property
    def remeasure(self) -> frozenset[str]:
        """Keys that change what is measured or rewritten, so that stored measures do not answer for them.

        They are those that `decide` never looks at, and those that the module lists as REMEASURE because it does both.
        """
        if self.module is None:
            return frozenset(dict(self.settings))
        seen = _Seen(self.settings)
        for values in _probes(len(self.measures)):
            self.module.decide(values, seen)
        return frozenset(dict(self.settings)) - seen.keys | frozenset(getattr(self.module, "REMEASURE", ()))

    def reason(self, values: Sequence[float], cut_bytes: float = math.nan) -> str:
        """Why a document with these measures is dropped, with the step in front; "" where it is kept.

        A document of which the step measured nothing did not come to it, and is kept by it.
        """
        if self.module is None or all(map(math.isnan, values)):
            return ""
        reason = str(self.module.decide(values, self.settings))
        if not reason and cut_bytes == EMPTIED:
            reason = NOTHING_LEFT
        return f"{self.name}.{reason}" if reason else ""

    def reason_of_one(self, measure: int, value: float, settings: Any = None) -> str:
        """What one measure alone, all others not measured, gives as the reason's own part under `settings`."""
        values = [math.nan] * len(self.measures)
        values[measure] = value
        assert self.module is not None
        return str(self.module.decide(values, settings or self.settings))


class _Seen:
    """Settings that remember which keys were looked at."""

    def __init__(self, settings: Section) -> None:
        self._settings = settings
        self.keys: set[str] = set()

    def __getattr__(self, key: str) -> Any:
        self.keys.add(key)
        return getattr(self._settings, key)


def _probes(measures: int) -> Iterator[list[float]]:
    """Measures with which `decide` comes to all of its rules: none measured, each alone, all the same."""
    yield [math.nan] * measures
    for value in _PROBED:
        yield [value] * measures
        for place in range(measures):
            yield [value if place == other else math.nan for other in range(measures)]
