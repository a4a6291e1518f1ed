from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from danlu.jobs.nursery import Nursery, Worker


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    nursery = Nursery()
    yield nursery
    nursery.close()


def give(worker: Worker, **argument: object) -> None:
    worker.channel.send_bytes(json.dumps(argument).encode())


def wait_for_file(directory: Path) -> None:
    while not list(directory.glob("pid-*")):
        os.sched_yield()


def is_running(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


def test_workers_are_forked_without_threads_and_use_one_each(nursery: Nursery, tmp_path: Path) -> None:
    workers = [nursery.fork("toy_tasks:show_threads") for _ in range(2)]
    if sys.platform == "linux":
        assert len(list(Path(f"/proc/{nursery._process.pid}/task").iterdir())) == 1
    for number, worker in enumerate(workers):
        give(worker, n=number, out=str(tmp_path))
        assert json.loads(worker.channel.recv_bytes()) == ["done", None]
    assert [(tmp_path / name).read_text() for name in "01"] == ["(1, 1, 1)"] * 2
    assert os.environ.get("NUMBA_NUM_THREADS") is None, "this process keeps its own"
    for worker in workers:
        worker.end()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV, None])
def test_the_exit_code_is_what_ended_the_worker(
    nursery: Nursery, tmp_path: Path, how: signal.Signals | None
) -> None:
    worker = nursery.fork("toy_tasks:die_once")
    give(worker, n=1, out=str(tmp_path), deaths=1, **({"signal": how} if how else {}))
    with pytest.raises(EOFError):
        worker.channel.recv_bytes()
    assert worker.end() == (-how if how else 3)


def test_close_ends_a_busy_worker(tmp_path: Path) -> None:
    nursery = Nursery()
    worker = nursery.fork("toy_tasks:wait_to_be_killed")
    give(worker, out=str(tmp_path))
    wait_for_file(tmp_path)
    nursery.close()
    assert not is_running(worker.process_id)
    assert not is_running(nursery._process.pid)


def test_a_nursery_that_is_gone_is_a_connection_error(tmp_path: Path) -> None:
    nursery = Nursery()
    worker = nursery.fork("toy_tasks:wait_to_be_killed")
    give(worker, out=str(tmp_path))
    wait_for_file(tmp_path)
    nursery._process.kill()
    nursery._process.wait()
    with pytest.raises(ConnectionError):
        nursery.fork("toy_tasks:square")
    assert is_running(worker.process_id)
    assert worker.end() is None
    while is_running(worker.process_id):
        os.sched_yield()
    nursery.close()
