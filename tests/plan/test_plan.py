"""The plan: whole steps, times, storage, and the length of a run in minutes."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.errors import DamagedError, MissingError, RecipeError
from danlu.mixture.stages import PlannedStage
from danlu.model.count import count_parameters, flops_per_token
from danlu.model.shape import Shape
from danlu.optim.settings import ScheduleSettings
from danlu.plan.machine import Machine
from danlu.plan.mixture import PlannedDomain
from danlu.plan.plan import (
    Choice,
    Given,
    make_plan,
    read_plan,
    render,
    tokens_for_minutes,
    whole_steps,
    with_speed,
    write_plan,
)
from danlu.train.settings import TrainSettings

SHAPE = Shape(
    vocab_size=1024,
    width=128,
    layers=4,
    heads=2,
    kv_heads=1,
    head_width=64,
    ffn_width=352,
    tie_embeddings=True,
    qk_norm=True,
    norm_epsilon=1e-5,
    rope_theta=1e4,
)
TRAIN = TrainSettings(tokens=100_000, sequence_length=128, batch_tokens=1536)
MACHINE = Machine("Some Processor", 2, 8 << 30, "Linux x86_64, Python 3.11.7")
STAGE = PlannedStage(65, 128, "best_fit", True, True, {"code": 0.75, "prose": 0.25})
GIVEN = Given(
    stages=(STAGE,),
    asked="",
    optimizer="muon",
    learning_rate=2e-3,
    schedule=ScheduleSettings(),
    activation_bytes=4,
    mixture=(
        PlannedDomain("code", 0.75, 60_000, 75_000, 1.25),
        PlannedDomain("prose", 0.25, 90_000, 25_000, 0.28),
    ),
    choices=(Choice("optimizer.learning_rate", "0.002", "Step Law"),),
    process_bytes=300_000_000,
)


def plan_of(train=TRAIN, machine=MACHINE, **changes):
    return make_plan(SHAPE, train, machine, replace(GIVEN, **changes))


def test_a_plan_is_whole_steps_and_what_they_cost():
    plan = plan_of()
    assert (plan.steps, plan.tokens) == (65, 65 * 1536)
    assert plan.parameters == count_parameters(SHAPE).total
    assert plan.total_flops == plan.tokens * flops_per_token(SHAPE, 128)
    assert (plan.micro_batch, plan.accumulation) == (12, 1)
    assert plan.warmup_tokens == 10 * 1536
    assert plan.expected_seconds is None
    assert with_speed(plan, 1000.0).expected_seconds == pytest.approx(99.84)
    assert with_speed(plan, 1000.0).expected_seconds == plan.tokens / 1000.0


def test_a_tight_machine_gets_smaller_micro_batches():
    plan = plan_of(machine=replace(MACHINE, memory_available=80_000_000))
    assert plan.micro_batch < 12
    assert plan.micro_batch * plan.accumulation == 12
    assert plan.memory.total <= 40_000_000
    assert plan.memory.total == max(plan.memory.total, plan.memory.parameters + plan.memory.optimizer)


def test_a_given_micro_batch_is_taken_whatever_fits():
    plan = plan_of(TRAIN.model_copy(update={"micro_batch": 4}), replace(MACHINE, memory_available=1))
    assert (plan.micro_batch, plan.accumulation) == (4, 3)


def test_less_than_a_step_is_refused():
    with pytest.raises(RecipeError, match=r"less than one step of train\.batch_tokens = 1536"):
        whole_steps(1535, 1536)
    assert [whole_steps(tokens, 1536) for tokens in (1536, 3071, 3072)] == [1, 1, 2]


def test_a_stored_plan_reads_back_equal(tmp_path):
    for plan in (plan_of(), with_speed(plan_of(), 1234.5)):
        write_plan(tmp_path / "plan.json", plan)
        assert read_plan(tmp_path / "plan.json") == plan


def test_a_damaged_plan_is_named(tmp_path):
    path = tmp_path / "plan.json"
    with pytest.raises(MissingError):
        read_plan(path)
    write_plan(path, plan_of())
    good = json.loads(path.read_text())
    for bad in ("{", "[]", json.dumps({**good, "format": 9}), json.dumps({**good, "steps": "many"})):
        path.write_text(bad)
        with pytest.raises(DamagedError, match=r"plan\.json"):
            read_plan(path)
    path.write_text(json.dumps({name: value for name, value in good.items() if name != "machine"}))
    with pytest.raises(DamagedError, match="machine"):
        read_plan(path)


def test_the_printed_plan_says_all_that_was_foreseen():
    text = render(with_speed(plan_of(), 1000.0))
    for part in (
        "65 steps of 1,536",
        "1 x 12 sequences",
        "1 min 40 s",
        "Some Processor",
        "75.00%",
        "1.25",
        "Step Law",
    ):
        assert part in text
    assert all(line == line.rstrip() for line in text.splitlines())
    assert "measured" not in render(plan_of(mixture=(), choices=()))


bounds = st.none() | st.integers(1, 10**9)


@given(st.floats(0.1, 1e6), st.floats(0.01, 1e4), bounds, bounds, st.integers(1, 10**6))
def test_minutes_become_whole_steps_within_the_bounds(rate, minutes, low, high, batch):
    if high is not None and high < batch:
        with pytest.raises(RecipeError, match="max_tokens"):
            tokens_for_minutes(rate, minutes, low, high, batch)
        return
    tokens = tokens_for_minutes(rate, minutes, low, high, batch)
    assert tokens % batch == 0
    assert tokens >= batch
    assert high is None or tokens <= high
    assert low is None or tokens >= low or (high is not None and tokens == high // batch * batch)
    if (low or 0) + batch <= tokens and (high is None or tokens + batch <= high) and tokens > batch:
        assert abs(tokens - rate * minutes * 60) <= batch


def test_a_rounded_batch_is_printed_with_its_reason():
    stages = (replace(STAGE, steps=3, sequence_length=1024),)
    plan = plan_of(TrainSettings(tokens=200_000, sequence_length=1024, batch_tokens="64K"), stages=stages)
    assert plan.batch_tokens == 64_512
    (line,) = [line for line in render(plan).splitlines() if "train.batch_tokens" in line]
    assert line.split(maxsplit=2)[1:] == ["64,512", "'64K' as whole sequences of 1,024 tokens"]


def test_stages_of_other_lengths():
    """Each has its micro-batch, memory is that of the largest, and FLOPs are those of their lengths."""
    longer = PlannedStage(20, 512, "chunk", True, True, {"prose": 1.0})
    plan = plan_of(TRAIN.model_copy(update={"micro_batch": 4}), stages=(replace(STAGE, steps=45), longer))
    assert (plan.steps, plan.micro_batches, plan.longest) == (65, (4, 1), 512)
    assert [plan.micro_batch_at(step) for step in (0, 44, 45, 64, 99)] == [4, 4, 1, 1, 1]
    assert [plan.length_at(step) for step in (0, 45, 46, 65)] == [128, 128, 512, 512]
    flops = 45 * 1536 * flops_per_token(SHAPE, 128) + 20 * 1536 * flops_per_token(SHAPE, 512)
    assert plan.total_flops == pytest.approx(flops)
    assert with_speed(plan, 1000.0).expected_seconds == pytest.approx(
        flops / flops_per_token(SHAPE, 128) / 1000
    )
    said = render(plan)
    assert "steps 1 to 45: 3 x 4 sequences of 128 tokens by best_fit; code 75.0%, prose 25.0%" in said
    assert "steps 46 to 65: 3 x 1 sequences of 512 tokens by chunk; prose 100.0%" in said
