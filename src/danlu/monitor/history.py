"""Reads a run's logs back, as one life: what a killed run logged and the resumed one logged again is there
once.

Guarantees: torn lines are left out; for the same step (and domain, or prompt) the last line wins; rows come
in order of steps. Costs: one pass over the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from danlu.files import read_lines
from danlu.monitor.runlog import EVALUATIONS, EVENTS, METRICS, SAMPLES


def read_metrics(directory: Path) -> list[dict[str, Any]]:
    """One row a step, ascending; not-a-number is None."""
    return _last_rows(directory / METRICS)


def read_evaluations(directory: Path) -> list[dict[str, Any]]:
    """One row a step, domain and extent (`whole` or in part), ascending by step."""
    return _last_rows(directory / EVALUATIONS, "domain", "whole")


def read_samples(directory: Path) -> list[dict[str, Any]]:
    """One row a step and prompt, ascending by step."""
    return _last_rows(directory / SAMPLES, "prompt")


def read_events(directory: Path) -> list[dict[str, Any]]:
    """Every event in the order in which it happened; a repeated one happened twice."""
    return [row for row in read_lines(directory / EVENTS) if "kind" in row]


def _last_rows(path: Path, *names: str) -> list[dict[str, Any]]:
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in read_lines(path):
        if isinstance(row.get("step"), int):
            rows[row["step"], *(row.get(name) for name in names)] = row
    return sorted(rows.values(), key=lambda row: int(row["step"]))
