"""Tasks as Slurm arrays: one array task for each, on whatever nodes the cluster gives; reports come back as files.

Decides: arrays of at most 1000, since Slurm refuses more than its MaxArraySize (1001 by default); what it does not
take at once waits until others are through; a task that left the queue without a report was lost and goes into
another array. Guarantees: only functions of danlu are run by name; what an earlier, killed process has submitted is
cancelled first, so that no task runs twice at a time. Costs: one small file a task, one `squeue` a minute.

    DIRECTORY/TITLE/tasks/NUMBER.json     function, and the arguments of 1000 tasks
                   /array.sh              what each array task runs: danlu job DIRECTORY/TITLE NUMBER
                   /reports/NUMBER.json   its failure or null, and what it said; gone when read
                   /logs/FIRST+INDEX.txt  standard output and error of task FIRST + INDEX
"""

from __future__ import annotations

import getpass
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from danlu import files
from danlu.errors import DanluError, MissingError, UsageError
from danlu.jobs.queue import Queue
from danlu.jobs.settings import Slurm
from danlu.jobs.task import ONE_THREAD, Batch, find_function, function_name, perform, raise_failure
from danlu.log import say

_SLICE = 1000
_POLL_SECONDS = 5.0
_QUEUE_SECONDS = 60.0
"""How often the queue is asked; a report may take as long to be seen through the nodes' file system."""
_COMMAND_SECONDS = 120.0
_PACKAGE = "danlu."


def work(batch: Batch, queue: Queue, workers: int, directory: Path, settings: Slurm) -> None:
    """Carries out a batch with at most so many tasks at a time (0: no limit); the errors are those of run_tasks."""
    arrays = _Arrays(batch, directory, settings)
    arrays.cancel()
    while arrays.queued() != set():
        time.sleep(_POLL_SECONDS)
    arrays.write(batch)
    asked, absent = time.monotonic(), set[int]()
    try:
        while queue.left:
            arrays.add(iter(lambda: queue.take(0), None))
            arrays.submit(workers)
            for number, report in arrays.reports():
                for line in report["said"]:
                    say(line)
                if report["failure"]:
                    say(f"its log: {arrays.log(number)}")
                queue.finish(number, report["failure"])
            if time.monotonic() - asked >= _QUEUE_SECONDS:
                asked = time.monotonic()
                gone = arrays.gone()
                for number in arrays.take_lost(gone & absent):
                    queue.lose(number, "ended without a report", f"Its log: {arrays.log(number)}")
                absent = gone
            queue.tick()
            if queue.left:
                time.sleep(_POLL_SECONDS)
    except BaseException:
        arrays.cancel()
        raise


def run_array_task(directory: Path, number: int) -> None:
    """The body of `danlu job DIRECTORY NUMBER`: runs one task and leaves its report; raises the task's error.

    UsageError where there is no such task or its function is not one of danlu's.
    """
    tasks = files.read_json(directory / "tasks" / f"{number // _SLICE}.json")
    arguments = tasks["arguments"]
    if number < 0 or number % _SLICE >= len(arguments):
        raise UsageError(f"{directory} holds no task {number}")
    if not tasks["function"].startswith(_PACKAGE):
        raise UsageError(f"{directory}: {tasks['function']} is not a function of danlu and is not run")
    said: list[str] = []
    log = sys.stderr

    def tell(line: str) -> None:
        said.append(line)
        print(line, file=log, flush=True)

    failure = perform(find_function(tasks["function"]), arguments[number % _SLICE], tell)
    files.write_json(_report(directory, number), {"failure": failure, "said": said})
    if failure:
        raise_failure(failure, f"task {number} of {directory}")


class _Arrays:
    """The arrays of one batch: its directory, its name in the queue, and which array each waiting task is in."""

    def __init__(self, batch: Batch, directory: Path, settings: Slurm) -> None:
        self.directory = directory.resolve() / (
            re.sub(r"\W+", "-", batch.title).strip("-").lower() or "batch"
        )
        self._name = f"danlu-{files.digest(str(self.directory))[:12]}"
        self._options = [
            f"--{name}={value}"
            for name, value in (
                ("job-name", self._name),
                ("ntasks", "1"),
                ("cpus-per-task", "1"),
                ("open-mode", "append"),
                ("partition", settings.partition),
                ("account", settings.account),
                ("time", settings.time),
                ("mem", settings.memory),
            )
            if value
        ]
        self._pending: list[list[int]] = []
        self._job_of: dict[int, int] = {}

    def write(self, batch: Batch) -> None:
        """Writes what the array tasks read, in place of what an earlier run left."""
        function = function_name(batch.task)
        if not function.startswith(_PACKAGE):
            raise ValueError(f"{function} is not a function of danlu")
        if self.directory.exists():
            files.remove_directory(self.directory)
        for first in range(0, len(batch.arguments), _SLICE):
            value = {"function": function, "arguments": list(batch.arguments[first : first + _SLICE])}
            files.write_json(self.directory / "tasks" / f"{first // _SLICE}.json", value)
        for name in ("reports", "logs"):
            (self.directory / name).mkdir()
        command = shlex.join([sys.executable, "-m", "danlu", "job", str(self.directory)])
        exports = " ".join(f"{name}={value}" for name, value in ONE_THREAD.items())
        text = f'#!/bin/sh\nexport {exports}\nexec {command} "$(($1 + SLURM_ARRAY_TASK_ID))"\n'
        files.write_bytes(self.directory / "array.sh", text.encode("utf-8", "surrogateescape"))

    def add(self, numbers: Iterable[int]) -> None:
        """Takes tasks that are to be submitted."""
        slices = groupby(sorted(numbers), key=lambda number: number // _SLICE)
        self._pending += [list(group) for _, group in slices]

    def submit(self, workers: int) -> None:
        """Submits what waits, as far as Slurm takes it; DanluError where it takes nothing and nothing runs."""
        limit = f"%{max(1, workers // len(self._pending))}" if workers and self._pending else ""
        while self._pending:
            numbers = self._pending[0]
            first = numbers[0] // _SLICE * _SLICE
            logs = str(self.directory / "logs" / f"{first}+").replace("%", "%%")
            done = _command(
                "sbatch",
                "--parsable",
                f"--array={_spell([number - first for number in numbers])}{limit}",
                f"--output={logs}%a.txt",
                *self._options,
                str(self.directory / "array.sh"),
                str(first),
            )
            if done.returncode and self._job_of:
                # A limit on submitted jobs, most likely; what runs will make room.
                break
            if done.returncode:
                raise DanluError(
                    f"sbatch refused the tasks: {done.stderr.strip()}. Check the options for Slurm in the recipe"
                )
            self._pending.pop(0)
            job = int(done.stdout.split(";")[0])
            self._job_of.update(dict.fromkeys(numbers, job))

    def reports(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The reports that have come since, each once."""
        for path in sorted((self.directory / "reports").glob("[0-9]*.json")):
            report = files.read_json(path)
            path.unlink()
            if self._job_of.pop(int(path.stem), None) is not None:
                yield int(path.stem), report

    def log(self, number: int) -> Path:
        """Where a task's standard output and error are."""
        return self.directory / "logs" / f"{number // _SLICE * _SLICE}+{number % _SLICE}.txt"

    def queued(self) -> set[int] | None:
        """The arrays of this batch that Slurm still has; None where it does not answer."""
        done = _command(
            "squeue", "--noheader", f"--user={getpass.getuser()}", f"--name={self._name}", "--format=%F"
        )
        if done.returncode:
            say(f"squeue does not answer and will be asked again: {done.stderr.strip()}")
            return None
        return {int(word) for word in done.stdout.split()}

    def gone(self) -> set[int]:
        """The arrays that tasks are waited for of and that Slurm has no more."""
        queued = self.queued()
        return set() if queued is None else set(self._job_of.values()) - queued

    def take_lost(self, jobs: set[int]) -> list[int]:
        """The tasks of these arrays that have left no report; they are waited for no longer."""
        lost = [number for number, job in self._job_of.items() if job in jobs]
        for number in lost:
            del self._job_of[number]
        return lost

    def cancel(self) -> None:
        """Asks Slurm to end all arrays of this batch."""
        done = _command("scancel", f"--user={getpass.getuser()}", f"--name={self._name}")
        if done.returncode:
            say(f"scancel failed: {done.stderr.strip()}")


def _report(directory: Path, number: int) -> Path:
    return directory / "reports" / f"{number}.json"


def _spell(indices: list[int]) -> str:
    """[0, 1, 2, 7] -> "0-2,7", as sbatch reads it."""
    parts = []
    for _, run in groupby(enumerate(indices), key=lambda pair: pair[1] - pair[0]):
        numbers = [number for _, number in run]
        parts.append(str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}")
    return ",".join(parts)


def _command(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs one of Slurm's commands; one that hangs counts as failed."""
    program = shutil.which(words[0])
    if program is None:
        raise MissingError(
            f'{words[0]} is not on this machine, and engine = "slurm" needs it; use engine = "pool" here, '
            "or start danlu on a login node of the cluster"
        )
    try:
        return subprocess.run(
            [program, *words[1:]], capture_output=True, text=True, timeout=_COMMAND_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 1, "", f"no answer within {_COMMAND_SECONDS:.0f} s")
