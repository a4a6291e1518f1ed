"""Proves a resume: the steps that a killed run had logged are run again and must give the same losses.

Compares bit for bit (JSON gives a double back exactly). Costs: one dictionary look-up a step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ReplayCheck:
    """Compares each step with `logged`, the losses (nats) of the steps after the resume point, by step."""

    def __init__(self, logged: Mapping[int, float | None]) -> None:
        self._logged = dict(logged)
        self._equal = 0
        self._different: list[int] = []

    def see(self, step: int, loss: float) -> bool:
        """Counts a step; True at the last logged one, when the result is whole."""
        if step not in self._logged:
            return False
        if self._logged[step] == loss:
            self._equal += 1
        else:
            self._different.append(step)
        return self.replayed == len(self._logged)

    @property
    def replayed(self) -> int:
        """How many logged steps were run again so far."""
        return self._equal + len(self._different)

    def result(self) -> dict[str, Any]:
        """`steps` replayed of those `logged`; how many gave an `equal` loss, and which a `different` one."""
        return {
            "steps": self.replayed,
            "logged": len(self._logged),
            "equal": self._equal,
            "different": list(self._different),
        }
