"""`danlu demo`: the whole road on the text that every Python machine carries, with a kill in the middle.

Decides: the trainer runs as a process of its own; a few steps after the first save past the half it is killed with
SIGKILL, and the same command is typed again. Guarantee: what the summary calls survived was measured, from the losses
that were logged before the kill and again after it. A second `danlu demo` only shows the summary.
"""

from __future__ import annotations

import importlib.resources
import json
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from danlu.errors import DanluError, Stopped
from danlu.files import append_line, read_json, write_json
from danlu.log import say, visible
from danlu.monitor.history import read_events
from danlu.plan.plan import Plan
from danlu.recipe import Recipe, parse
from danlu.report.summary import summarise
from danlu.workflow import stages
from danlu.workflow.run import RUNS, Run, hold, open_run

STEPS_AFTER_SAVE = 5
"""How many steps the kill undoes at least, so that there is something to replay."""

_POLL_SECONDS = 0.02


def demo_recipe() -> Recipe:
    """The recipe that comes with the package."""
    text = importlib.resources.files("danlu.workflow").joinpath("demo.toml").read_text(encoding="utf-8")
    return parse(tomllib.loads(text))


def run_demo(fresh: bool = False, tokens: int | None = None, runs: Path = RUNS) -> None:
    """Runs or resumes the demo in runs/demo and prints its summary; `tokens` is a limit of this command."""
    run = open_run(demo_recipe(), Path.cwd(), runs)
    done = run.directory / "demo.json"
    if done.exists() and not fresh and tokens is None and not read_json(done)["limited"]:
        say("The demo is done already; `danlu demo --fresh` starts it over.\n")
        print(visible(summarise(run.directory), lines=True))
        return
    started = time.monotonic()
    with hold(run, fresh):
        done.unlink(missing_ok=True)
        plan = stages.prepare(run)
    _train_with_a_kill(run, plan, tokens)
    with hold(run):
        stages.conclude(run)
        write_json(done, {"seconds": round(time.monotonic() - started, 1), "limited": tokens is not None})
    print(visible(f"\n{summarise(run.directory)}", lines=True))
    different = [step for event in read_events(run.directory) for step in event.get("different", ())]
    if different:
        raise DanluError(
            f"the replayed steps {different[:8]} did not give their logged losses again: this machine does not "
            f"repeat its own arithmetic. Please report it with the output of `danlu plan show {run.directory}`"
        )


def _train_with_a_kill(run: Run, plan: Plan, tokens: int | None) -> None:
    command = [sys.executable, "-m", "danlu", "train", str(run.directory)]
    if tokens is not None:
        command += ["--tokens", str(tokens)]
    target = kill_step(plan, run.recipe.checkpoint.every_steps, tokens)
    if _last_step(run) < target and not _was_killed(run):
        with _child(command) as process:
            while process.poll() is None and _last_step(run) < target:
                time.sleep(_POLL_SECONDS)
            if process.poll() is None:
                process.kill()
                process.wait()
                step = _last_step(run)
                append_line(
                    run.directory / "events.jsonl", {"time": time.time(), "kind": "killed", "step": step}
                )
                say(f"  killed the trainer with SIGKILL at step {step}; now the same command again")
        if process.returncode not in (0, -signal.SIGKILL):
            _fail(process.returncode)
    with _child(command) as process:
        process.wait()
    if process.returncode:
        _fail(process.returncode)


def kill_step(plan: Plan, save_every: int, tokens: int | None) -> int:
    """The step at which the trainer is killed: a few steps after the first save past the half."""
    steps = plan.steps if tokens is None else min(plan.steps, tokens // plan.batch_tokens)
    half = steps // 2
    save = -(-half // save_every) * save_every if save_every else 0
    return min(save + STEPS_AFTER_SAVE, max(1, steps - 1))


def _fail(code: int) -> None:
    if code == Stopped.exit_code:
        raise Stopped("the demo was stopped; all is saved. `danlu demo` goes on from there")
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    raise DanluError(f"the trainer {how}. `danlu demo` goes on from its newest save")


@contextmanager
def _child(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A child that receives the signals that would stop us, and never outlives the block."""
    process = subprocess.Popen(command)

    def forward(number: int, _frame: FrameType | None) -> None:
        process.send_signal(number)

    before = signal.signal(signal.SIGTERM, forward)
    # A terminal sends Ctrl-C to both; the child saves and ends, and its exit code tells.
    ignored = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGINT, ignored)


def _last_step(run: Run) -> int:
    """The newest step in metrics.jsonl, from its last whole line."""
    path = run.directory / "metrics.jsonl"
    if not path.exists():
        return 0
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 4096))
        lines = file.read().split(b"\n")[:-1]
    try:
        return int(json.loads(lines[-1])["step"]) if lines else 0
    except (ValueError, KeyError):
        return 0


def _was_killed(run: Run) -> bool:
    return any(event.get("kind") == "killed" for event in read_events(run.directory))
