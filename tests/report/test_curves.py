"""The curves: no spike is lost, the mean is of what it says, kills are marked."""

import math

import numpy as np
import pytest

from danlu.report.curves import curves, trailing_mean
from danlu.report.facts import Facts


@pytest.mark.parametrize("window", [1, 2, 7, 100])
def test_trailing_mean_equals_the_slow_one(window):
    values = np.random.default_rng(0).normal(size=60)
    values[[0, 5, 30]] = [np.nan, np.inf, np.nan]
    slow = []
    for i in range(len(values)):
        part = values[max(0, i - window + 1) : i + 1]
        part = part[np.isfinite(part)]
        slow.append(part.mean() if part.size else np.nan)
    np.testing.assert_allclose(trailing_mean(list(values), window), slow, atol=1e-12)


def rows(count: int, **changed) -> list[dict]:
    made = [
        {
            "step": i + 1,
            "tokens": i,
            "loss": 2.0,
            "grad_norm": 1.0,
            "learning_rate": 0.1,
            "tokens_per_second": 9.0,
        }
        for i in range(count)
    ]
    for name, (at, value) in changed.items():
        made[at][name] = value
    return made


def test_a_spike_of_one_step_in_many_is_in_the_picture():
    text = curves(Facts("r", metrics=rows(20_000, grad_norm=(12_345, 777.0))))
    assert "highest 777" in text
    assert len(text) < 300_000


def test_losses_that_are_not_finite_are_counted():
    assert "1 steps logged a loss that is not finite" in curves(Facts("r", metrics=rows(10, loss=(3, None))))
    assert "not finite" not in curves(Facts("r", metrics=rows(10)))


def test_kills_are_marked():
    events = [{"kind": "killed", "step": 5}, {"kind": "resumed", "step": 4}, {"kind": "killed"}]
    text = curves(Facts("r", metrics=rows(10), events=events))
    assert text.count(">killed<") == text.count("<svg")


def test_what_was_not_logged_has_no_picture():
    metrics = [{"step": i, "loss": 2.0} for i in range(1, 5)]
    assert curves(Facts("r", metrics=metrics)).count("<svg") == 1
    evaluations = [{"step": 0, "domain": "prose", "loss": math.e, "bits_per_byte": 2.0}]
    assert curves(Facts("r", metrics=metrics, evaluations=evaluations)).count("<svg") == 2
