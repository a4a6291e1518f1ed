"""Stages end at whole steps, epochs are counted over all of them, and what was trained stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.errors import RecipeError
from danlu.mixture.settings import MixtureSettings
from danlu.mixture.stages import (
    PlannedStage,
    WantedStage,
    cut_stages,
    describe_caps,
    describe_change,
    plan_stages,
    settings_until,
)

TOKENS = {"code": 10_000, "prose": 40_000}


def wanted(until=None, length=16, packing="best_fit", **mixture):
    return WantedStage(length, packing, True, True, MixtureSettings(**mixture), until)


def test_a_run_without_stages_is_one():
    (stage,) = plan_stages([wanted()], TOKENS, 7, 1000)
    assert stage == PlannedStage(7, 16, "best_fit", True, True, {"code": 0.2, "prose": 0.8})


@given(untils=st.lists(st.integers(1, 40_000), min_size=1, max_size=5, unique=True), steps=st.integers(1, 40))
def test_stages_end_at_the_last_whole_step_in_their_tokens(untils, steps):
    untils = sorted(untils)
    stages = [wanted(until, length=2 + n) for n, until in enumerate(untils)] + [wanted(length=99)]
    ends = [min(until // 1000, steps) for until in untils] + [steps]
    if any(end <= before for before, end in zip([0, *ends], ends)):  # noqa: B905
        with pytest.raises(RecipeError, match="has no step"):
            plan_stages(stages, TOKENS, steps, 1000)
        return
    planned = plan_stages(stages, TOKENS, steps, 1000)
    assert [stage.sequence_length for stage in planned] == [2 + n for n in range(len(untils))] + [99]
    assert [sum(s.steps for s in planned[: n + 1]) for n in range(len(planned))] == ends


def test_equal_neighbours_are_one_stage():
    assert len(plan_stages([wanted(3000), wanted(5000), wanted()], TOKENS, 9, 1000)) == 1


def test_a_last_stage_that_ends_too_early():
    with pytest.raises(
        RecipeError, match=r"number 2, the last, ends at until_tokens = 5K, and the run at 9K"
    ):
        plan_stages([wanted(3000), wanted(5000, length=8)], TOKENS, 9, 1000)
    assert plan_stages([wanted(3000), wanted(9999, length=8)], TOKENS, 9, 1000)[-1].steps == 6


def test_epochs_are_counted_over_all_stages():
    """Two epochs of code are 20,000 tokens: the first stage takes 12,000, so that the second may have 8,000."""
    shares = {"code": 0.6, "prose": 0.4}
    first, second = plan_stages(
        [wanted(20_000, weights=shares, max_epochs=2.0), wanted(length=8, weights=shares, max_epochs=2.0)],
        TOKENS,
        60,
        1000,
    )
    assert first.weights == shares
    assert second.weights["code"] == pytest.approx(8_000 / 40_000)


def test_a_weight_of_zero_is_not_read_and_an_order_goes_with_its_domain():
    mixture = {"weights": {"code": 0.0, "prose": 1.0}, "order_by": {"code": "bytes", "prose": "-bytes"}}
    (stage,) = plan_stages([wanted(**mixture)], TOKENS, 9, 1000)
    assert (stage.weights, stage.order_by) == ({"prose": 1.0}, {"prose": "-bytes"})


def test_what_was_trained_stays_and_the_rest_is_planned_anew():
    history = plan_stages([wanted(weights={"code": 1.0, "prose": 0.0})], TOKENS, 20, 1000)
    trained = cut_stages(history, 8)
    grown = {**TOKENS, "math": 5_000}
    shares = {"code": 0.5, "prose": 0.25, "math": 0.25}
    now = [wanted(8_000, weights={"code": 1.0, "prose": 0.0, "math": 0.0}), wanted(weights=shares)]
    planned = plan_stages(now, grown, 20, 1000, trained)
    assert [(stage.steps, stage.weights) for stage in planned] == [(8, {"code": 1.0}), (12, shares)]
    # The boundary may also lie behind what is trained; then the same goes on until there.
    later = plan_stages([wanted(10_000, weights={**shares, "math": 0.0}), wanted()], grown, 20, 1000, trained)
    assert [stage.steps for stage in later] == [8, 2, 10]
    assert cut_stages(later, 8) == trained


def test_cutting():
    stages = (PlannedStage(3, 16, "none", True, True, {}), PlannedStage(4, 8, "none", True, True, {}))
    assert cut_stages(stages, 0) == ()
    assert [stage.steps for stage in cut_stages(stages, 5)] == [3, 2]
    assert cut_stages(stages, 99) == stages


def test_what_is_asked_for_up_to_a_step():
    one = [wanted(weights={"code": 1.0, "prose": 0.0})]
    two = [wanted(6_500, weights={"code": 1.0}), wanted(length=8)]
    assert settings_until(one, 20, 6, 1000) == settings_until(two, 20, 6, 1000)
    assert settings_until(one, 20, 7, 1000) != settings_until(two, 20, 7, 1000)
    assert [steps for steps, _ in settings_until(two, 20, 9, 1000)] == [6, 3]


def test_a_capped_domain_is_said_with_its_stage():
    shares = {"code": 0.9, "prose": 0.1}
    stages = [wanted(5_000, weights=shares), wanted(weights=shares)]
    planned = plan_stages(stages, TOKENS, 100, 1000)
    (said,) = describe_caps(stages, planned, TOKENS, 1000)
    assert said.startswith("stage 2: code gets 37.4% instead of 90.0%: more would be above max_epochs = 4;")
    assert (
        describe_caps(stages[:1], plan_stages([wanted(weights=shares)], TOKENS, 5, 1000), TOKENS, 1000) == []
    )


def test_a_cap_of_the_past_is_not_spoken_of():
    """A domain that has just come was not there before."""
    history = plan_stages([wanted()], {"code": 10_000}, 20, 1000)
    planned = plan_stages([wanted()], TOKENS, 20, 1000, cut_stages(history, 8))
    assert describe_caps([wanted()], planned, TOKENS, 1000, done=8) == []


def test_what_is_left_of_a_domain_s_epochs_by_rounding_is_no_sample():
    sizes, epochs = {"a": 1003, "b": 40_000_000}, {"max_epochs": 1.5}
    shares = [{"a": 0.9, "b": 0.1}, {"a": 0.5, "b": 0.5}]
    stages = [wanted(3_000, weights=shares[0], **epochs), wanted(weights=shares[1], **epochs)]
    first, second = plan_stages(stages, sizes, 10_003, 1000)
    assert first.weights["a"] == pytest.approx(0.5015)
    assert second.weights == {"b": 1.0}


def test_a_change_is_described_from_its_first_step():
    was = (PlannedStage(9, 16, "none", True, True, {"code": 1.0}),)
    shares = {"code": 0.25, "prose": 0.75}
    now = (*cut_stages(was, 4), PlannedStage(5, 32, "chunk", True, True, shares))
    said = describe_change(was, now)
    assert said == "from step 5 on: code 25.0%, prose 75.0%; sequences of 32 by chunk"
    assert describe_change(was, was) == ""
