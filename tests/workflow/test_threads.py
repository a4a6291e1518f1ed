"""Waiting threads sleep where two do not gain, unless the user or an imported torch has decided."""

import os
import sys

import pytest

from danlu.workflow import threads


@pytest.fixture
def undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delitem(sys.modules, "torch", raising=False)


@pytest.mark.parametrize(("gain", "policy"), [(1.0, "passive"), (1.5, "passive"), (2.0, None)])
def test_asleep_where_two_do_not_gain(
    undecided: None, monkeypatch: pytest.MonkeyPatch, gain: float, policy: str | None
) -> None:
    monkeypatch.setattr(threads, "two_thread_gain", lambda: gain)
    threads.settle_waiting()
    assert os.environ.get("OMP_WAIT_POLICY") == policy


@pytest.mark.parametrize("name", ["OMP_WAIT_POLICY", "GOMP_SPINCOUNT"])
def test_what_the_user_set_stays(undecided: None, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "mine")
    monkeypatch.setattr(threads, "two_thread_gain", lambda: 1.0)
    threads.settle_waiting()
    assert os.environ[name] == "mine"
    assert len({"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} & os.environ.keys()) == 1


def test_the_gain_is_a_ratio_of_work() -> None:
    assert 0.2 < threads.two_thread_gain() < 10
