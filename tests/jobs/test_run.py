from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import toy_tasks
from danlu.errors import InputError, Stopped
from danlu.jobs import pool
from danlu.jobs.run import Engine, resolve_workers, run_tasks

DRIVER = """
import sys
import toy_tasks
from danlu.errors import Stopped
from danlu.jobs.run import Engine, run_tasks
from pathlib import Path
try:
    engine = Engine("pool", int(sys.argv[2]), Path())
    run_tasks(toy_tasks.wait_to_be_killed, [{"out": sys.argv[1]}] * 4, engine, "toys")
except Stopped as error:
    print(error)
    sys.exit(75)
"""


@pytest.fixture(scope="module", autouse=True)
def no_nursery_is_left() -> Iterator[None]:
    yield
    pool.end_nursery()


def read(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


@pytest.mark.parametrize("sizes", [None, [7, 1, 9, 3, 5]])
def test_the_same_bytes_with_one_worker_and_with_many(tmp_path: Path, sizes: list[int] | None) -> None:
    results = []
    for workers in (1, 2, 9):
        out = tmp_path / str(workers)
        out.mkdir()
        arguments = [{"n": n, "out": str(out)} for n in range(5)]
        run_tasks(toy_tasks.square, arguments, Engine("pool", workers, tmp_path), "squares", sizes)
        results.append(read(out))
    assert results[0] == results[1] == results[2] == {str(n): b"%d" % n**2 for n in range(5)}


def test_no_tasks_are_done_at_once(tmp_path: Path) -> None:
    run_tasks(toy_tasks.square, [], Engine("ray", 0, tmp_path), "squares")


def test_one_task_runs_in_this_process(tmp_path: Path) -> None:
    place = tmp_path / f"pid-{os.getpid()}"
    argument = {"out": str(tmp_path), "file": str(tmp_path)}
    run_tasks(toy_tasks.wait_for, [argument], Engine("pool", 8, tmp_path), "toys", [1])
    assert place.exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_is_the_same_wherever_it_happens(
    tmp_path: Path, workers: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError) as caught:
        run_tasks(toy_tasks.refuse, [{"n": 7}] * 2, Engine("pool", workers, tmp_path), "reading")
    assert str(caught.value) == "line 7 of the file is bad; mend it"
    assert 'reading, task 1 of 2, {"n":7} failed' in capsys.readouterr().err


def test_arguments_are_json_also_here(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="JSON"):
        run_tasks(toy_tasks.square, [{"n": 1, "out": tmp_path}], Engine("pool", 1, tmp_path), "squares")


def test_workers() -> None:
    assert resolve_workers(3) == resolve_workers(3, "slurm") == 3
    assert 1 <= resolve_workers("auto") <= (os.cpu_count() or 1)
    assert resolve_workers("auto", "ray") == 0, "all that the cluster has"


def test_sigterm_is_an_error_that_says_what_is_done(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    argument = {"n": 1, "out": str(tmp_path), "deaths": 1, "signal": signal.SIGTERM}
    with pytest.raises(Stopped, match=r"toys: .*SIGTERM; 0 of 1 tasks .* same command"):
        run_tasks(toy_tasks.die_once, [argument], Engine("pool", 1, tmp_path), "toys")
    assert signal.getsignal(signal.SIGTERM) is before


def start(tmp_path: Path, workers: int) -> tuple[subprocess.Popen[str], list[int]]:
    """A process whose tasks never end, and the process ids of its workers, all of them busy."""
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(tmp_path), str(workers)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while len(pids := list(tmp_path.glob("pid-*"))) < workers:
        assert process.poll() is None, process.communicate()
    return process, [int(path.name.removeprefix("pid-")) for path in pids]


def wait_until_gone(process_id: int) -> None:
    while True:
        try:
            os.kill(process_id, 0)
        except ProcessLookupError:
            return


@pytest.mark.parametrize("workers", [1, 2])
def test_sigterm_leaves_no_worker(tmp_path: Path, workers: int) -> None:
    process, pids = start(tmp_path, workers)
    process.terminate()
    output, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (75, "")
    assert "0 of 4 tasks are done" in output
    for process_id in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(process_id, 0)


def test_ctrl_c_leaves_no_worker_and_one_traceback(tmp_path: Path) -> None:
    process, pids = start(tmp_path, 2)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert errors.count("KeyboardInterrupt") == 1
    for process_id in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(process_id, 0)


def test_a_killed_process_takes_its_workers_with_it(tmp_path: Path) -> None:
    process, pids = start(tmp_path, 2)
    process.kill()
    process.communicate(timeout=30)
    for process_id in pids:
        wait_until_gone(process_id)
