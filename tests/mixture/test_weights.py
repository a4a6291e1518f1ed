"""Weights agree with the published rules, quotas sum exactly, and what the text cannot give is refused."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.errors import RecipeError
from danlu.mixture.settings import MixtureSettings
from danlu.mixture.weights import (
    SHARE_UNIT,
    cap_epochs,
    resolve_weights,
    temperature_weights,
    to_sample_shares,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "mixture.json").read_text())
SIZES = {name: int(size) for name, size in zip("abcd", GOLDEN["sizes"], strict=True)}


@pytest.mark.parametrize("temperature", list(GOLDEN["temperature"]))
def test_golden_temperature(temperature):
    weights = temperature_weights(SIZES, float(temperature))
    assert list(weights.values()) == pytest.approx(GOLDEN["temperature"][temperature], abs=1e-12)


def test_golden_epoch_cap():
    weights = cap_epochs(dict.fromkeys("abcd", 0.25), SIZES, 10**12, 4.0)
    assert list(weights.values()) == pytest.approx(GOLDEN["cap_uniform_budget_1e12_epochs_4"], abs=1e-12)
    assert list(weights.values()) == pytest.approx(GOLDEN["unimax_budget_1e12_epochs_4"], abs=1e-12)


@given(
    rows=st.lists(st.tuples(st.floats(1e-3, 1.0), st.integers(10, 10**13)), min_size=1, max_size=8),
    share=st.floats(0.01, 1.0),
    epochs=st.floats(0.5, 8.0),
)
def test_no_domain_above_its_epochs(rows, share, epochs):
    sizes = {f"d{i}": size for i, (_, size) in enumerate(rows)}
    wanted = {f"d{i}": weight for i, (weight, _) in enumerate(rows)}
    total = max(1, int(share * epochs * sum(sizes.values())))
    weights = resolve_weights(MixtureSettings(weights=wanted, max_epochs=epochs), sizes, total)
    assert sum(weights.values()) == pytest.approx(1.0, abs=1e-9)
    for name, weight in weights.items():
        assert weight * total <= epochs * sizes[name] * (1 + 1e-9)


def test_given_weights_are_normalised():
    weights = resolve_weights(MixtureSettings(weights={"b": 3.0, "a": 1.0}), {"a": 100, "b": 100}, 100)
    assert weights == {"a": 0.25, "b": 0.75}


def test_by_size_without_weights():
    assert resolve_weights(MixtureSettings(), {"a": 300, "b": 100}, 100) == {"a": 0.75, "b": 0.25}


def test_not_enough_text_says_how_much_there_is():
    with pytest.raises(
        RecipeError, match=r"train\.tokens = 1000.*max_epochs = 2 .*give: 600.*max_epochs to 3\.34"
    ):
        resolve_weights(MixtureSettings(max_epochs=2.0), {"a": 100, "b": 200}, 1000)


@pytest.mark.parametrize("weights", [{"a": 1.0}, {"a": 1.0, "b": 1.0, "c": 1.0}])
def test_names_must_fit(weights):
    with pytest.raises(RecipeError, match=r"'[bc]' has no"):
        resolve_weights(MixtureSettings(weights=weights), {"a": 100, "b": 200}, 10)


@given(
    rows=st.lists(st.tuples(st.floats(0.001, 1.0), st.floats(1.0, 4096.0)), min_size=1, max_size=20),
)
def test_shares_are_exact_whole_numbers(rows):
    weights = {f"d{i}": weight for i, (weight, _) in enumerate(rows)}
    filled = {f"d{i}": mean for i, (_, mean) in enumerate(rows)}
    samples = {name: weights[name] / filled[name] for name in weights}
    total = sum(samples.values())
    if min(samples.values()) / total * SHARE_UNIT < 1.0 + 1e-6:
        return
    shares = to_sample_shares(weights, filled)
    assert sum(shares.values()) == SHARE_UNIT
    for name, share in shares.items():
        assert abs(share - samples[name] / total * SHARE_UNIT) < 1.0 + 1e-6


def test_shares_follow_the_filled_length():
    shares = to_sample_shares({"a": 0.5, "b": 0.5}, {"a": 300.0, "b": 100.0})
    assert shares == {"a": SHARE_UNIT // 4, "b": SHARE_UNIT * 3 // 4}


def test_too_light_a_domain_is_refused():
    with pytest.raises(RecipeError, match="'b' gets 1e-07"):
        to_sample_shares({"a": 1.0, "b": 1e-7}, {"a": 100.0, "b": 100.0})


def test_one_domain():
    assert to_sample_shares({"a": 1.0}, {"a": 3.0}) == {"a": SHARE_UNIT}
