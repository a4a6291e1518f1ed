"""The loop: a run that is killed, stopped or limited ends as one that was left alone, bit for bit."""

import json
import os
import random
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from danlu.checkpoint.load import load
from danlu.checkpoint.steps import list_steps, step_path
from danlu.errors import DamagedError, DivergedError, MismatchError, Stopped
from danlu.files import write_json
from danlu.monitor.history import read_events, read_metrics
from danlu.train import loop
from danlu.train.limits import Limits
from danlu.train.loop import train
from danlu.workflow.run import load_run
from small_run import recipe_and_plan

KILLED = """
import os, signal
from pathlib import Path
from danlu.train import loop
from danlu.train import step as inside
from small_run import recipe_and_plan

real, real_losses, passes = loop.train_step, inside.losses, []

def losses(*args, **kwargs):
    passes.append(1)
    if {inside} and len(passes) == 2 and at_step:
        os.kill(os.getpid(), signal.SIGKILL)
    return real_losses(*args, **kwargs)

def step(trainer, batch):
    global at_step
    at_step = trainer.counters.step + 1 == {step}
    passes.clear()
    result = real(trainer, batch)
    if at_step:
        os.kill(os.getpid(), signal.SIGKILL)
    return result

loop.train_step, inside.losses = step, losses
run = Path({run!r})
recipe, plan = recipe_and_plan(run)
loop.train(recipe, run, plan)
"""
"""Ends itself in the second of the four micro-batches of a step, or between a step's update and its line in the log."""


@pytest.fixture(scope="module")
def unbroken(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run, never interrupted."""
    run = tmp_path_factory.mktemp("unbroken") / "small"
    shutil.copytree(prepared, run)
    recipe, plan = recipe_and_plan(run)
    assert train(recipe, run, plan).status == "done"
    return run


def weights(run: Path) -> dict[str, str]:
    """The SHA-256 of each file of the newest save, from its manifest."""
    steps = list_steps(run / "checkpoints")
    manifest = json.loads((step_path(run / "checkpoints", steps[-1]) / "manifest.json").read_text())
    return {e["name"]: e["sha256"] for e in manifest["files"] if e["name"].endswith("safetensors")}


def losses(run: Path) -> dict[int, float]:
    return {row["step"]: row["loss"] for row in read_metrics(run)}


def test_run_covers_what_it_claims(unbroken: Path) -> None:
    plan = recipe_and_plan(unbroken)[1]
    assert plan.accumulation == 4
    assert max(row.epochs for row in plan.mixture) > 1.5
    assert len(plan.mixture) == 2
    assert losses(unbroken)[40] < losses(unbroken)[1] - 0.5


def test_killed_twice_equals_unbroken(small: Path, unbroken: Path, python: Callable[[str], int]) -> None:
    """kill -9 inside step 17, between two backward passes, and after a resume right after step 26's update."""
    assert python(KILLED.format(run=str(small), step=17, inside=True)) == -signal.SIGKILL
    assert python(KILLED.format(run=str(small), step=26, inside=False)) == -signal.SIGKILL
    assert list_steps(small / "checkpoints") == [10, 20]
    recipe, plan = recipe_and_plan(small)
    assert train(recipe, small, plan).step == 40
    assert weights(small) == weights(unbroken)
    assert losses(small) == losses(unbroken)
    replays = [event for event in read_events(small) if event["kind"] == "replayed"]
    assert [(event["steps"], event["equal"], event["different"]) for event in replays] == [
        (6, 6, []),
        (5, 5, []),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_killed_at_drawn_steps_equals_unbroken(
    small: Path, unbroken: Path, python: Callable[[str], int], seed: int
) -> None:
    """kill -9 three times, each at a step and on a side of it that the seed draws from those still to come."""
    draw = random.Random(seed)
    for _ in range(3):
        resumed = (list_steps(small / "checkpoints") or [0])[-1]
        step, inside = draw.randint(resumed + 1, 40), draw.random() < 0.5
        print(f"seed {seed}: killed {'in' if inside else 'after'} step {step}")
        assert python(KILLED.format(run=str(small), step=step, inside=inside)) == -signal.SIGKILL
    recipe, plan = recipe_and_plan(small)
    train(recipe, small, plan)
    assert weights(small) == weights(unbroken)
    assert losses(small) == losses(unbroken)
    assert all(not event["different"] for event in read_events(small) if event["kind"] == "replayed")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_saves_and_the_same_command_goes_on(
    small: Path, unbroken: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    real = loop.train_step

    def step(trainer: loop.Trainer, batch: loop.Batch) -> object:
        if trainer.counters.step == 12:
            os.kill(os.getpid(), number)
        return real(trainer, batch)

    recipe, plan = recipe_and_plan(small)
    monkeypatch.setattr(loop, "train_step", step)
    with pytest.raises(Stopped, match=f"stopped by {number.name} after step 13") as stopped:
        train(recipe, small, plan)
    assert stopped.value.exit_code == 75
    assert list_steps(small / "checkpoints")[-1] == 13
    monkeypatch.setattr(loop, "train_step", real)
    train(recipe, small, plan)
    assert weights(small) == weights(unbroken)


@pytest.mark.parametrize(
    ("limits", "step"),
    [
        (Limits(steps=7), 7),
        (Limits(tokens=7 * 512 + 511), 7),
        (Limits(tokens=512), 1),
        (Limits(minutes=0.0), 0),
    ],
)
def test_limit_stops_before_the_step_that_would_exceed_it(small: Path, limits: Limits, step: int) -> None:
    recipe, plan = recipe_and_plan(small)
    outcome = train(recipe, small, plan, limits)
    assert (outcome.status, outcome.step, outcome.tokens) == ("limit", step, step * 512)
    assert list_steps(small / "checkpoints")[-1] == step


def test_limits_do_not_change_the_result(small: Path, unbroken: Path) -> None:
    recipe, plan = recipe_and_plan(small)
    for steps in (1, 2, 23):
        train(recipe, small, plan, Limits(steps=steps))
    assert train(recipe, small, plan).status == "done"
    assert weights(small) == weights(unbroken)


def test_damaged_checkpoint_falls_back_and_says_so(
    small: Path, unbroken: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, plan = recipe_and_plan(small)
    train(recipe, small, plan, Limits(steps=20))
    file = step_path(small / "checkpoints", 20) / "model.safetensors"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    train(recipe, small, plan)
    assert "step 20" in capsys.readouterr().err
    assert weights(small) == weights(unbroken)
    for step in list_steps(small / "checkpoints"):
        (step_path(small / "checkpoints", step) / "state.json").write_bytes(b"{}")
    with pytest.raises(DamagedError, match="every checkpoint"):
        train(recipe, small, plan)


def test_checkpoint_of_another_training_is_refused(small: Path) -> None:
    recipe, plan = recipe_and_plan(small)
    train(recipe, small, plan, Limits(steps=1))
    other = recipe.model_copy(update={"seed": 8})
    with pytest.raises(MismatchError, match="seed: 7 -> 8"):
        train(other, small, plan)
    assert list_steps(small / "checkpoints") == [0, 1]


def test_number_that_is_not_finite_stops_before_the_weights_move(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from danlu.train import step as step_module

    recipe, plan = recipe_and_plan(small)
    train(recipe, small, plan, Limits(steps=5))
    before = load(small / "checkpoints").tensors["model"]
    real = step_module.gradient_norm
    monkeypatch.setattr(step_module, "gradient_norm", lambda parameters: real(parameters) * float("nan"))
    with pytest.raises(DivergedError, match="step 6"):
        train(recipe, small, plan)
    after = load(small / "checkpoints")
    assert after.step == 5
    assert all(after.tensors["model"][name].equal(tensor) for name, tensor in before.items())


def test_foreign_directory_is_refused(small: Path) -> None:
    recipe, plan = recipe_and_plan(small)
    (small / "checkpoints").mkdir()
    write_json(small / "checkpoints" / "latest.json", {"step": 3})
    with pytest.raises(MismatchError, match="no checkpoint"):
        train(recipe, small, plan)


def test_recipe_of_the_run_is_whole(small: Path) -> None:
    assert load_run(small).recipe == recipe_and_plan(small)[0]


def test_a_signal_during_the_first_evaluation_stops_before_the_first_step(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = loop.Observer.before_first_step

    def interrupted(observer: loop.Observer) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        real(observer)

    monkeypatch.setattr(loop.Observer, "before_first_step", interrupted)
    recipe, plan = recipe_and_plan(small)
    with pytest.raises(Stopped, match="after step 0"):
        train(recipe, small, plan)
    assert list_steps(small / "checkpoints") == [0]


def test_a_replay_that_a_limit_cuts_short_is_told(small: Path, python: Callable[[str], int]) -> None:
    assert python(KILLED.format(run=str(small), step=18, inside=False)) == -signal.SIGKILL
    recipe, plan = recipe_and_plan(small)
    train(recipe, small, plan, Limits(steps=13))
    replay = next(event for event in read_events(small) if event["kind"] == "replayed")
    assert (replay["steps"], replay["logged"], replay["equal"]) == (3, 7, 3)
