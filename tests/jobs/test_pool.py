from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import toy_tasks
from danlu.errors import DanluError, InputError
from danlu.jobs import pool
from danlu.jobs.queue import Queue
from danlu.jobs.task import Batch, Task
from danlu.log import Progress


@pytest.fixture(scope="module", autouse=True)
def no_nursery_is_left() -> Iterator[None]:
    yield
    pool.end_nursery()


def work(task: Task, arguments: list[dict[str, Any]], workers: int = 2) -> None:
    batch = Batch(task, arguments, "toys")
    pool.work(batch, Queue(batch, Progress("toys", None, "tasks")), workers)


def squares(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in directory.iterdir() if path.name.isdigit()}


def test_every_task_is_done_once(tmp_path: Path) -> None:
    work(toy_tasks.square, [{"n": n, "out": str(tmp_path)} for n in range(20)])
    assert squares(tmp_path) == {str(n): str(n * n) for n in range(20)}


@pytest.mark.parametrize("how", [{"signal": signal.SIGKILL}, {"signal": signal.SIGSEGV}, {}])
def test_a_lost_worker_costs_time_only(
    tmp_path: Path, how: dict[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [{"n": n, "out": str(tmp_path), "deaths": 2 * (n in (1, 4)), **how} for n in range(6)]
    work(toy_tasks.die_once, arguments)
    assert squares(tmp_path) == {str(n): str(n * n) for n in range(6)}
    name = signal.Signals(how["signal"]).name if how else "exit code 3"
    assert capsys.readouterr().err.count(name) == 4


def test_a_task_that_always_kills_its_worker_is_named_and_the_others_are_done(tmp_path: Path) -> None:
    arguments = [
        {"n": n, "out": str(tmp_path), "deaths": 9 * (n == 2), "signal": signal.SIGKILL} for n in range(5)
    ]
    with pytest.raises(DanluError, match=r'task 3 of 5, {"n":2.*3 times.*SIGKILL.*memory.*fewer workers'):
        work(toy_tasks.die_once, arguments)
    assert squares(tmp_path).keys() == {"0", "1", "3", "4"}


def test_an_error_ends_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="line 1 of the file is bad"):
        work(toy_tasks.refuse, [{"n": 1}, {"n": 1}, {"n": 1}])
    assert "of 3" in capsys.readouterr().err
    assert not pool._nurseries


def test_an_interrupt_leaves_no_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(self: Queue) -> None:
        if len(list(tmp_path.glob("pid-*"))) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Queue, "tick", interrupt)
    monkeypatch.setattr(pool, "_TICK_SECONDS", 0.01)
    with pytest.raises(KeyboardInterrupt):
        work(toy_tasks.wait_to_be_killed, [{"out": str(tmp_path)}] * 3)
    for path in tmp_path.glob("pid-*"):
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.name.removeprefix("pid-")), 0)


def test_what_a_task_says_reaches_the_user(capsys: pytest.CaptureFixture[str]) -> None:
    work(toy_tasks.speak, [{"n": n} for n in range(3)])
    lines = capsys.readouterr().err.splitlines()
    assert sorted(lines) == [*(f"hello from {n}" for n in range(3)), *["no end"] * 3]


def test_a_killed_nursery_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kill(self: Queue) -> None:
        if len(list(tmp_path.glob("pid-*"))) == 2 and not (tmp_path / "go").exists():
            nursery = pool._nurseries[0]._process
            nursery.kill()
            nursery.wait()
            (tmp_path / "go").touch()

    monkeypatch.setattr(Queue, "tick", kill)
    monkeypatch.setattr(pool, "_TICK_SECONDS", 0.01)
    work(toy_tasks.wait_for, [{"out": str(tmp_path), "file": str(tmp_path / "go")}] * 2)
    work(toy_tasks.square, [{"n": n, "out": str(tmp_path)} for n in range(3)])
    assert squares(tmp_path).keys() == {"0", "1", "2"}


def test_where_no_worker_can_start_one_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        def fork(self, function: str) -> None:
            raise ConnectionError

        def close(self) -> None:
            pass

    pool.end_nursery()
    monkeypatch.setattr(pool, "Nursery", Gone)
    with pytest.raises(DanluError, match="no worker can be started"):
        work(toy_tasks.square, [{"n": 1}, {"n": 2}])
