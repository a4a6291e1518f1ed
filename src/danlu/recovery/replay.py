"""Proves a resume: the steps that a killed run had logged are run again and must give the same losses.

Compares bit for bit (JSON gives a double back exactly). Costs: one dictionary look-up a step.
"""

from __future__ import annotations

from collections.abc import Mapping


class ReplayCheck:
    """Compares each step with `logged`, the losses (nats) of the steps after the resume point, by step."""

    def __init__(self, logged: Mapping[int, float | None]) -> None:
        self._logged = dict(logged)
        self._last = max(self._logged, default=None)
        self._equal = 0
        self._different: list[int] = []

    def see(self, step: int, loss: float) -> dict[str, int | list[int]] | None:
        """Counts a step; at the last logged one, once, returns how many `steps` were replayed, how many gave
        an `equal` loss, and which ones a `different` loss.
        """
        if step in self._logged:
            if self._logged[step] == loss:
                self._equal += 1
            else:
                self._different.append(step)
        if step != self._last:
            return None
        replayed = self._equal + len(self._different)
        return {"steps": replayed, "equal": self._equal, "different": self._different}
