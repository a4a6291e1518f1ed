from __future__ import annotations

import pytest

from danlu.optim.rates import resolve_rates
from danlu.optim.settings import OptimizerSettings


def test_step_law_up_to_a_billion_parameters() -> None:
    rates = resolve_rates(OptimizerSettings(), 214_663_680, 11_400_000_000)
    assert rates.learning_rate == pytest.approx(1.79 * 214_663_680**-0.713 * 11_400_000_000**0.307)
    assert 1e-3 < rates.learning_rate < 4e-3
    assert "Step Law" in rates.reason


def test_deepseek_beyond() -> None:
    rates = resolve_rates(OptimizerSettings(), 67_000_000_000, 2_000_000_000_000)
    assert rates.learning_rate == pytest.approx(3.2e-4, rel=0.3)
    assert "DeepSeek" in rates.reason


def test_outside_of_what_was_ever_used_the_rate_is_held_and_says_so() -> None:
    rates = resolve_rates(OptimizerSettings(), 100_000, 10_000_000_000)
    assert rates.learning_rate == 1e-2
    assert "held within" in rates.reason


def test_muon_takes_the_same_rate_unless_named() -> None:
    auto = resolve_rates(OptimizerSettings(kind="muon"), 10**8, 10**10)
    assert auto.matrix_learning_rate == auto.learning_rate
    named = resolve_rates(OptimizerSettings(kind="muon", learning_rate=3e-3, matrix_learning_rate=0.02), 1, 1)
    assert (named.learning_rate, named.matrix_learning_rate) == (3e-3, 0.02)
    assert named.reason.count("named by the recipe") == 2
