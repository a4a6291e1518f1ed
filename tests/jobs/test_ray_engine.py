from __future__ import annotations

import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import toy_tasks
from danlu.errors import DanluError, InputError, MissingError
from danlu.jobs import pool, ray_engine
from danlu.jobs.queue import Queue
from danlu.jobs.run import Engine, run_tasks
from danlu.jobs.task import Batch
from danlu.log import Progress
from small_cluster import cluster, loopback

__all__ = ["cluster", "loopback"]


def run(kind: Any, task: Any, directory: Path, **more: Any) -> dict[str, bytes]:
    """A batch of twelve, of which the fourth is special; the files that it has written."""
    directory.mkdir()
    arguments: list[dict[str, Any]] = [{"n": n, "out": str(directory), "deaths": 0} for n in range(12)]
    arguments[3].update(more)
    run_tasks(task, arguments, Engine(kind, 2, directory), "toys", list(range(12)))
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.name.isdigit()}


@pytest.mark.slow
def test_the_same_bytes_as_from_the_pool(cluster: Any, tmp_path: Path) -> None:
    import ray

    expected = run("pool", toy_tasks.square, tmp_path / "pool")
    pool.end_nursery()
    handler = signal.getsignal(signal.SIGTERM)
    assert run("ray", toy_tasks.square, tmp_path / "ray") == expected
    assert len(expected) == 12
    assert not ray.is_initialized(), "what was connected here is closed here"
    assert signal.getsignal(signal.SIGTERM) is handler


@pytest.mark.slow
@pytest.mark.parametrize("how", [{"signal": signal.SIGKILL}, {}])
def test_a_killed_worker_changes_nothing(
    cluster: Any, tmp_path: Path, how: dict[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    written = run("ray", toy_tasks.die_once, tmp_path / "ray", deaths=2, **how)
    assert written == {str(n): b"%d" % n**2 for n in range(12)}
    assert capsys.readouterr().err.count("toys, task 4 of 12") == 2


@pytest.mark.slow
def test_a_connection_of_the_caller_stays(
    cluster: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import ray

    ray.init(address=cluster.address, log_to_driver=False)
    try:
        run("ray", toy_tasks.speak, tmp_path / "said")
        assert capsys.readouterr().err.count("hello from") == 12
        with pytest.raises(DanluError, match=r"task 4 of 12.*lost 3 times"):
            run("ray", toy_tasks.die_once, tmp_path / "dies", deaths=9, signal=signal.SIGKILL)
        with pytest.raises(InputError, match="of the file is bad; mend it"):
            run("ray", toy_tasks.refuse, tmp_path / "bad")
        assert ray.is_initialized()
    finally:
        ray.shutdown()


@pytest.mark.slow
def test_without_a_cluster_one_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    def refuse(**options: Any) -> None:
        raise ConnectionError("no running Ray instance")

    monkeypatch.setattr(ray, "init", refuse)
    with pytest.raises(MissingError, match=r"no running Ray instance.*RAY_ADDRESS.*pool"):
        run("ray", toy_tasks.square, tmp_path / "ray")


def test_without_ray_one_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingError, match=r'pip install "danlu\[cluster\]"'):
        run("ray", toy_tasks.square, tmp_path / "ray")


def test_the_end_of_ones_own_node_is_an_error_and_not_a_wait(tmp_path: Path) -> None:
    own = {"NodeID": "ours", "Alive": True}
    ray = SimpleNamespace(
        remote=lambda **_: lambda actor: actor,
        wait=lambda *_, **__: ([], []),
        get_runtime_context=lambda: SimpleNamespace(get_node_id=lambda: "ours"),
        nodes=lambda: [{"NodeID": "other", "Alive": False}, own],
    )
    batch = Batch(toy_tasks.square, [{"n": 1, "out": str(tmp_path)}], "toys")
    actors = ray_engine._Actors(ray, "toy_tasks:square", batch, Queue(batch, Progress("toys", None, "tasks")))
    actors.await_one()
    own["Alive"] = False
    with pytest.raises(DanluError, match=r"toys: the Ray node of this machine has ended.*done is kept"):
        actors.await_one()


def test_an_actor_reports_as_a_worker_does(tmp_path: Path) -> None:
    worker = ray_engine._Worker("toy_tasks:speak")
    worker.ready()
    assert worker.perform('{"n":1}') == '{"failure":null,"said":["hello from 1","no end"]}'
