"""Weights are capped as slow rounds would, quotas sum exactly, and what the text cannot give is refused."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.errors import RecipeError
from danlu.mixture.settings import MixtureSettings, Slice
from danlu.mixture.weights import (
    SHARE_UNIT,
    cap_epochs,
    check_domains,
    given_weights,
    most_tokens,
    resolve_weights,
    sampling_weights,
    to_sample_shares,
)


def by_rounds(weights, limits):
    """Caps and hands out again, round by round, until nothing is above its limit."""
    shares, capped = dict(weights), set()
    while True:
        free = set(weights) - capped
        left = 1 - sum(limits[name] for name in capped)
        total = sum(weights[name] for name in free)
        shares = {name: weights[name] / total * left if name in free else limits[name] for name in weights}
        over = {name for name in free if shares[name] > limits[name]}
        if not over:
            return shares
        capped |= over


@given(
    rows=st.lists(st.tuples(st.floats(1e-3, 1.0), st.integers(10, 10**13)), min_size=1, max_size=8),
    share=st.floats(0.01, 1.0),
    epochs=st.integers(1, 8),
)
def test_the_sweep_is_the_rounds(rows, share, epochs):
    sizes = {f"d{i}": size for i, (_, size) in enumerate(rows)}
    wanted = {f"d{i}": Fraction(repr(weight)) for i, (weight, _) in enumerate(rows)}
    total = max(1, int(share * epochs * sum(sizes.values())))
    limits = {name: Fraction(epochs * size, total) for name, size in sizes.items()}
    shares = by_rounds(wanted, limits)
    assert cap_epochs(wanted, sizes, total, epochs) == {name: float(shares[name]) for name in sorted(shares)}


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


@given(
    sizes=st.dictionaries(st.sampled_from("abcdef"), st.integers(1000, 10**12), min_size=1),
    stages=st.lists(
        st.tuples(
            st.lists(st.sampled_from([0.0, 0.001, 0.3, 0.999]), min_size=6, max_size=6),
            st.floats(0.01, 1.0),
        ),
        min_size=1,
        max_size=4,
    ),
    epochs=st.sampled_from([0.5, 1.0, 2.7, 4.0]),
)
def test_epochs_are_of_the_whole_run(sizes, stages, epochs):
    """Each stage takes a part, up to all, of what those before it left of the domains that it reads."""
    seen = dict.fromkeys(sizes, 0)
    for wishes, part in stages:
        weights = dict(zip(sizes, wishes, strict=False))
        if not any(weights.values()):
            continue
        settings = MixtureSettings(weights=weights, max_epochs=epochs)
        left = most_tokens(settings, sizes, seen)
        if not left:
            continue
        with pytest.raises(RecipeError, match="max_epochs"):
            resolve_weights(settings, sizes, left + len(sizes) + 1, seen)
        length = max(1, round(part * left))
        shares = resolve_weights(settings, sizes, length, seen)
        assert sum(shares.values()) == pytest.approx(1.0, abs=1e-12)
        assert min(shares.values()) > 0
        assert all(weights[name] for name in shares)
        for name, share in shares.items():
            seen[name] += round(share * length)
    for name, size in sizes.items():
        assert seen[name] <= epochs * size + len(sizes) * len(stages)


def test_the_last_stage_may_take_all_that_is_left():
    sizes = {"a": 1001, "b": 997, "c": 3}
    settings = MixtureSettings(max_epochs=3.7, temperature=1.7)
    seen, left = dict.fromkeys(sizes, 0), most_tokens(settings, sizes)
    assert left == 7403
    while left:
        length = min(left, 1234)
        for name, share in resolve_weights(settings, sizes, length, seen).items():
            seen[name] += round(share * length)
        left -= length
    assert {name: seen[name] / size for name, size in sizes.items()} == pytest.approx(
        dict.fromkeys(sizes, 3.7), abs=1.0
    )


def test_a_domain_that_had_all_its_epochs_is_left_out():
    settings = MixtureSettings(weights={"a": 0.5, "b": 0.5}, max_epochs=1.0)
    assert resolve_weights(settings, {"a": 100, "b": 500}, 100, {"a": 100, "b": 50}) == {"b": 1.0}
    with pytest.raises(RecipeError, match=r"500 tokens .* of a stage are more than.*leave after.*: 450 "):
        resolve_weights(settings, {"a": 100, "b": 500}, 500, {"a": 100, "b": 50})


def test_a_weight_of_zero_is_not_read():
    settings = MixtureSettings(weights={"a": 0.0, "b": 0.7, "c": 0.3}, max_epochs=2.0)
    sizes = {"a": 10**9, "b": 100, "c": 100}
    assert resolve_weights(settings, sizes, 100) == {"b": 0.7, "c": 0.3}
    assert most_tokens(settings, sizes) == 400
    with pytest.raises(RecipeError, match="passes over the text of b, c give: 400"):
        resolve_weights(settings, sizes, 401)


def test_the_decimal_number_of_epochs_is_meant():
    settings = MixtureSettings(max_epochs=3.3)
    assert resolve_weights(settings, {"a": 1000}, 3300) == {"a": 1.0}
    with pytest.raises(RecipeError, match="3300"):
        resolve_weights(settings, {"a": 1000}, 3301)


def test_upsampling_is_relative_to_the_size():
    sizes = {"a": 1000, "b": 100, "c": 10}
    weights = resolve_weights(MixtureSettings(upsample={"b": 3.0, "c": 0.5}), sizes, 100)
    epochs = {name: 100 * weight / sizes[name] for name, weight in weights.items()}
    assert epochs["b"] / epochs["a"] == pytest.approx(3.0)
    assert epochs["c"] / epochs["a"] == pytest.approx(0.5)
    with pytest.raises(RecipeError, match=r"mixture\.upsample: 'd' has no text"):
        resolve_weights(MixtureSettings(upsample={"d": 2.0}), sizes, 100)


def test_unimax_is_even_where_the_text_allows():
    sizes = {"big": 10**6, "middle": 10**5, "small": 10}
    weights = resolve_weights(MixtureSettings(method="unimax"), sizes, 10_040)
    assert weights["small"] * 10_040 == pytest.approx(40)
    assert weights["big"] == weights["middle"] == pytest.approx(5000 / 10_040)


def test_a_preset_lists_what_does_not_fit():
    settings = MixtureSettings(preset="llama3")
    with pytest.raises(RecipeError) as error:
        resolve_weights(settings, {"code": 10, "prose": 10, "verse": 10, "general": 10}, 10)
    assert str(error.value) == (
        "mixture.preset = 'llama3': 'math_reasoning' has no text, 'multilingual' has no text, "
        "'prose' has no place in it, 'verse' has no place in it; domains with text: code, general, prose, verse; "
        "call the sources' domains as the preset does, or write mixture.weights"
    )
    sizes = dict.fromkeys(["general", "math_reasoning", "code", "multilingual"], 10**6)
    assert resolve_weights(settings, sizes, 100) == {
        "code": 0.17,
        "general": 0.5,
        "math_reasoning": 0.25,
        "multilingual": 0.08,
    }


def test_a_sequence_of_presets():
    sizes = {"pile": 1000, "bigquery": 1000, "bigpython": 1000}
    for preset, only in zip(("codegen_nl", "codegen_multi", "codegen_mono"), sizes, strict=True):
        assert resolve_weights(MixtureSettings(preset=preset), sizes, 100) == {only: 1.0}


def test_what_is_known_before_the_text_is():
    assert given_weights(MixtureSettings(weights={"a": 2.0})) == {"a": 2.0}
    assert given_weights(MixtureSettings(preset="codellama"))["code"] == 0.85
    assert given_weights(MixtureSettings(method="unimax")) == {}
    check_domains(MixtureSettings(method="unimax"), ["a"])


def test_no_cap():
    settings = MixtureSettings(weights={"a": 1.0, "b": 0.0, "c": 3.0}).model_copy(
        update={"max_epochs": float("inf")}
    )
    assert resolve_weights(settings, {"a": 1, "b": 1, "c": 1}, 10**15) == {"a": 0.25, "c": 0.75}


def test_a_sample_of_the_corpus_follows_all_stages():
    hard = {"hard": Slice(of="prose", where="bytes > 500")}
    weights = {"prose": 2.0, "hard": 1.0, "code": 1.0}
    one = MixtureSettings(weights=weights, slice=hard)
    assert sampling_weights([one]) == {"prose": 3.0, "code": 1.0}
    other = MixtureSettings(weights={"prose": 0.0, "hard": 0.0, "code": 5.0}, slice=hard)
    assert sampling_weights([one, other]) == {"prose": 0.75, "code": 1.25}
    assert sampling_weights([one, MixtureSettings(method="unimax")]) == {}
