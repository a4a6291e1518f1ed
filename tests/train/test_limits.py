"""Limits stop before the step that would exceed them."""

import time

import pytest

from danlu.errors import UsageError
from danlu.train.limits import Limits


def test_none_forbids_nothing() -> None:
    assert Limits().forbid(10**9, 10**15, 10.0**9) is None


@pytest.mark.parametrize(
    ("limits", "allowed", "forbidden"),
    [
        (Limits(steps=3), (3, 0, 0.0), (4, 0, 0.0)),
        (Limits(tokens=100), (1, 100, 0.0), (1, 101, 0.0)),
        (Limits(steps=0), (0, 0, 0.0), (1, 0, 0.0)),
    ],
)
def test_exact(limits: Limits, allowed: tuple[int, int, float], forbidden: tuple[int, int, float]) -> None:
    assert limits.forbid(*allowed) is None
    reason = limits.forbid(*forbidden)
    assert reason is not None
    assert reason.startswith("--")


@pytest.mark.parametrize("name", ["steps", "tokens", "minutes"])
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf")])
def test_what_bounds_nothing_is_refused(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=f"--{name} {value}"):
        Limits(**{name: value})


def test_minutes_count_from_the_start_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Limits(minutes=0.5, started=100.0)
    monkeypatch.setattr(time, "monotonic", lambda: 110.0)
    assert limits.forbid(1, 0, 20.0) is None
    assert limits.forbid(1, 0, 20.1) == "--minutes 0.5"
