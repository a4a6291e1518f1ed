from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

import danlu
import fake_slurm
import toy_tasks
from danlu.errors import DanluError, InputError, MissingError, UsageError
from danlu.files import write_json
from danlu.jobs import slurm
from danlu.jobs.queue import Queue
from danlu.jobs.settings import Slurm
from danlu.jobs.task import Batch, Task
from danlu.log import Progress


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The toy tasks as a module of danlu, for this process and for those that the array starts."""
    folder = tmp_path / "modules"
    folder.mkdir()
    shutil.copy(toy_tasks.__file__, folder)
    (folder / "sitecustomize.py").write_text(f"import danlu\ndanlu.__path__.append({str(folder)!r})\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *sys.path]))
    monkeypatch.setattr(danlu, "__path__", [*danlu.__path__, str(folder)])
    yield importlib.import_module("danlu.toy_tasks")
    del sys.modules["danlu.toy_tasks"], danlu.toy_tasks


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(slurm, "_POLL_SECONDS", 0.0)
    monkeypatch.setattr(slurm, "_QUEUE_SECONDS", 0.0)
    return fake_slurm.install(tmp_path, monkeypatch)


def work(
    tmp_path: Path, task: Task, arguments: list[dict[str, Any]], workers: int = 0, **settings: str
) -> Path:
    """Runs a batch; the directory of its files."""
    batch = Batch(task, arguments, "Toy tasks")
    queue = Queue(batch, Progress("toys", None, "tasks"))
    slurm.work(batch, queue, workers, tmp_path / "slurm", Slurm.model_validate(settings))
    return tmp_path / "slurm" / "toy-tasks"


def test_an_array_does_the_tasks(
    tmp_path: Path, state: Path, toys: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = work(tmp_path, toys.speak, [{"n": 4}, {"n": 5}], workers=1, partition="long", time="04:00:00")
    assert "hello from 4\nno end\nhello from 5\nno end\n" in capsys.readouterr().err
    assert (directory / "logs" / "0+1.txt").read_text() == "hello from 5\nno end\n"
    (arguments,) = fake_slurm.calls(state, "sbatch")
    assert {"--array=0-1%1", "--partition=long", "--time=04:00:00", "--mem=4G", "--cpus-per-task=1"} <= {
        *arguments
    }
    assert not [word for word in arguments if word.startswith("--account")]


def test_a_lost_task_goes_into_another_array(tmp_path: Path, state: Path, toys: Any) -> None:
    arguments = [{"n": n, "out": str(tmp_path), "deaths": n, "signal": signal.SIGKILL} for n in range(2)]
    work(tmp_path, toys.die_once, arguments)
    assert [(tmp_path / str(n)).read_text() for n in range(2)] == ["0", "1"]
    assert [words[1] for words in fake_slurm.calls(state, "sbatch")] == ["--array=0-1", "--array=1"]


def test_a_task_that_is_always_lost_is_named_with_its_log(tmp_path: Path, state: Path, toys: Any) -> None:
    (state / "hold").touch()
    with pytest.raises(DanluError, match=r"Toy tasks, task 1 of 1.*without a report.*logs/0\+0\.txt"):
        work(tmp_path, toys.square, [{"n": 1}])
    assert len(fake_slurm.calls(state, "sbatch")) == 3


def test_an_error_names_its_log_and_cancels_the_rest(
    tmp_path: Path, state: Path, toys: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match="line 1 of the file is bad; mend it"):
        work(tmp_path, toys.refuse, [{"n": 1}])
    assert "logs/0+0.txt" in capsys.readouterr().err
    assert "line 1 of the file is bad" in (tmp_path / "slurm" / "toy-tasks" / "logs" / "0+0.txt").read_text()
    assert len(fake_slurm.calls(state, "scancel")) == 2, "what an earlier run left, and now"


def test_what_an_earlier_run_left_in_the_queue_is_ended_first(
    tmp_path: Path, state: Path, toys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (state / "queue").write_text("17\n17\n")
    monkeypatch.setattr(slurm.time, "sleep", lambda seconds: (state / "queue").unlink(missing_ok=True))
    work(tmp_path, toys.square, [{"n": 1, "out": str(tmp_path)}])
    names = [json.loads(line)[0] for line in (state / "calls.jsonl").read_text().splitlines()]
    assert names[:4] == ["scancel", "squeue", "squeue", "sbatch"]


class Arrays:
    """Arrays that no one carries out."""

    def __init__(self, tmp_path: Path, state: Path, toys: Any, count: int) -> None:
        (state / "hold").touch()
        self.batch = Batch(toys.square, [{"n": n, "out": "."} for n in range(count)], "Toy tasks")
        self.arrays = slurm._Arrays(self.batch, tmp_path, Slurm())
        self.arrays.write(self.batch)
        self.arrays.add(range(count))


def test_many_tasks_are_sliced(tmp_path: Path, state: Path, toys: Any) -> None:
    arrays = Arrays(tmp_path, state, toys, 2500).arrays
    arrays.submit(workers=30)
    submitted = fake_slurm.calls(state, "sbatch")
    assert [words[1] for words in submitted] == ["--array=0-999%10", "--array=0-999%10", "--array=0-499%10"]
    assert [words[-1] for words in submitted] == ["0", "1000", "2000"]
    assert json.loads((arrays.directory / "tasks" / "2.json").read_text())["arguments"][7]["n"] == 2007
    assert arrays.log(2007).name == "2000+7.txt"


def test_what_slurm_does_not_take_waits(tmp_path: Path, state: Path, toys: Any) -> None:
    arrays = Arrays(tmp_path, state, toys, 1).arrays
    (state / "refuse").touch()
    with pytest.raises(DanluError, match=r"refused.*QOSMaxSubmitJobPerUserLimit"):
        arrays.submit(0)
    (state / "refuse").unlink()
    arrays.submit(0)
    (state / "refuse").touch()
    arrays.add([1000])
    arrays.submit(0)
    (state / "refuse").unlink()
    arrays.submit(0)
    assert len(fake_slurm.calls(state, "sbatch")) == 4


def test_a_queue_that_does_not_answer_loses_nothing(
    tmp_path: Path, state: Path, toys: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    arrays = Arrays(tmp_path, state, toys, 3).arrays
    arrays.submit(0)
    (state / "queue").write_text("down")
    assert arrays.gone() == set()
    assert "asked again" in capsys.readouterr().err
    (state / "queue").write_text("1\n")
    assert arrays.gone() == set()
    (state / "queue").unlink()
    assert arrays.gone() == {1}
    assert arrays.take_lost({1}) == [0, 1, 2]
    assert arrays.gone() == set()


def test_without_slurm_one_is_told(tmp_path: Path, toys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingError, match="scancel is not on this machine"):
        work(tmp_path, toys.square, [{"n": 1}])


def test_only_functions_of_danlu_are_run(tmp_path: Path, state: Path) -> None:
    with pytest.raises(ValueError, match="not a function of danlu"):
        work(tmp_path, toy_tasks.square, [{"n": 1, "out": str(tmp_path)}])
    write_json(tmp_path / "tasks" / "0.json", {"function": "os:remove", "arguments": [{}]})
    with pytest.raises(UsageError, match="os:remove is not a function of danlu"):
        slurm.run_array_task(tmp_path, 0)


@pytest.mark.parametrize("number", [-1, 1, 999])
def test_a_number_that_is_no_task_is_refused(tmp_path: Path, number: int) -> None:
    write_json(tmp_path / "tasks" / f"{number // 1000}.json", {"function": "danlu.x:y", "arguments": [{}]})
    with pytest.raises(UsageError, match=f"no task {number}"):
        slurm.run_array_task(tmp_path, number)


@pytest.mark.parametrize(
    ("indices", "text"), [([0], "0"), ([0, 1, 2], "0-2"), ([1, 3], "1,3"), ([0, 1, 5, 7, 8, 9], "0-1,5,7-9")]
)
def test_indices_are_spelt_as_slurm_reads_them(indices: list[int], text: str) -> None:
    assert slurm._spell(indices) == text
    assert fake_slurm._indices(text) == indices
