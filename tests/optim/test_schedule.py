from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.errors import RecipeError
from danlu.optim.schedule import rate_factor, resolve_warmup
from danlu.optim.settings import ScheduleSettings
from networks import golden

GOLDEN = golden("schedule")
WARMUP, TOTAL = GOLDEN["warmup"], GOLDEN["total"]
CASES = {
    "hf_linear": {"kind": "linear"},
    "hf_cosine": {"kind": "cosine"},
    "hf_cosine_min_0.1": {"kind": "cosine", "final_ratio": 0.1},
    "hf_constant_with_warmup": {"kind": "constant"},
    "hf_wsd_linear_min0.0": {"kind": "wsd", "decay_share": 0.2},
    "hf_wsd_linear_min0.1": {"kind": "wsd", "decay_share": 0.2, "final_ratio": 0.1},
}


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str) -> None:
    """transformers' own, up to the planned end; its wsd warms up from the final ratio, ours from 0."""
    settings = ScheduleSettings.model_validate(CASES[name])
    first = WARMUP if name == "hf_wsd_linear_min0.1" else 0
    for step in range(first, TOTAL + 1):
        ours = rate_factor(settings, 512 * step, 0, 512 * TOTAL, 512 * WARMUP)
        assert ours == pytest.approx(GOLDEN["schedules"][name][step], abs=1e-12)


@given(
    kind=st.sampled_from(["wsd", "cosine", "linear"]),
    total=st.integers(1, 10**14),
    warmup=st.integers(0, 10**14),
    floor=st.floats(0, 1),
    tokens=st.lists(st.integers(0, 2 * 10**14), min_size=2),
)
def test_never_rises_after_the_warmup(
    kind: str, total: int, warmup: int, floor: float, tokens: list[int]
) -> None:
    settings = ScheduleSettings.model_validate({"kind": kind, "final_ratio": floor})
    factors = [rate_factor(settings, at, 0, total, warmup) for at in sorted(tokens) if at >= warmup]
    assert all(0.0 <= factor <= 1.0 for factor in factors)
    assert all(later <= earlier + 1e-12 for earlier, later in itertools.pairwise(factors))
    assert rate_factor(settings, max(total, warmup), 0, total, warmup) == floor


def test_warmup_is_two_percent_and_at_least_ten_steps() -> None:
    auto = ScheduleSettings()
    assert resolve_warmup(auto, 10**9, 10**4) == 20_000_000
    assert resolve_warmup(auto, 10**6, 10**4) == 100_000
    assert resolve_warmup(auto, 10**5, 10**4) == 50_000
    assert resolve_warmup(ScheduleSettings(warmup_tokens=7), 100, 10) == 7


def test_a_warmup_as_long_as_the_run_is_refused() -> None:
    with pytest.raises(RecipeError, match="leaves nothing"):
        resolve_warmup(ScheduleSettings(warmup_tokens=100), 100, 10)


@pytest.mark.parametrize("kind", ["wsd", "cosine", "linear"])
def test_neither_the_first_step_nor_the_last_is_wasted(kind):
    settings = ScheduleSettings(kind=kind)
    factors = [rate_factor(settings, 64 * step, 64, 64 * 50, 64 * 10) for step in range(50)]
    assert factors[0] == pytest.approx(0.1)
    assert factors[9] == 1.0
    assert 0.0 < factors[-1] < 0.2
    assert max(factors) == 1.0
