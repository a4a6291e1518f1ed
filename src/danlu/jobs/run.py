"""`run_tasks`: carries out many tasks of one kind, wherever the engine says, and shows how far they are.

Guarantees: the result is that of calling the function on each argument in turn, whatever the engine, the workers and
the order; a lost worker costs its task's time and nothing else; SIGINT and SIGTERM leave no worker behind, and what
was done stays. Costs: a pool starts in a tenth of a second, Ray in seconds, Slurm when the cluster has room.
"""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Literal, assert_never

from danlu.errors import Stopped
from danlu.jobs import pool, ray_engine, slurm
from danlu.jobs.cores import usable_cores
from danlu.jobs.queue import Queue
from danlu.jobs.settings import Slurm
from danlu.jobs.task import Batch, Task, encode
from danlu.log import progress

Kind = Literal["pool", "ray", "slurm"]


@dataclass(frozen=True)
class Engine:
    """Where tasks run. `workers`: at most so many at a time, 0 for all that a cluster has (`resolve_workers`).

    `directory`: of Slurm's task files and logs, on a file system that all nodes share.
    """

    kind: Kind
    workers: int
    directory: Path
    slurm: Slurm = field(default_factory=Slurm)


def resolve_workers(workers: int | Literal["auto"], kind: Kind = "pool") -> int:
    """The number of workers: as given, else one for each core of this machine, or 0: all that the cluster has."""
    if workers != "auto":
        return workers
    return usable_cores() if kind == "pool" else 0


def run_tasks(
    task: Task,
    arguments: Sequence[dict[str, Any]],
    engine: Engine,
    title: str,
    sizes: Sequence[int] | None = None,
) -> None:
    """Calls `task` once with each argument, in any order and place; returns when all are done.

    `task` is a function at the top of a module and idempotent; an argument is a JSON object; `sizes` are the bytes that
    each task reads, for the progress and so that large ones come first. With one worker or one task a pool is none:
    all happens in this process. Raises a task's own error, DanluError where a worker was lost three times with the
    same task, Stopped after SIGTERM.
    """
    if not arguments:
        return
    batch = Batch(task, arguments, title, sizes)
    total = sum(sizes) if sizes is not None else len(arguments)
    with progress(title, total, "tasks" if sizes is None else "bytes") as bar:
        queue = Queue(batch, bar)
        with _stoppable(batch, queue):
            match engine.kind:
                case "pool":
                    if min(engine.workers, len(arguments)) > 1:
                        pool.work(batch, queue, engine.workers)
                    else:
                        _work_here(batch, queue)
                case "ray":
                    ray_engine.work(batch, queue, engine.workers)
                case "slurm":
                    slurm.work(batch, queue, engine.workers, engine.directory, engine.slurm)
                case _:
                    assert_never(engine.kind)


def _work_here(batch: Batch, queue: Queue) -> None:
    while (number := queue.take_first()) is not None:
        try:
            batch.task(json.loads(encode(batch.arguments[number])))
        except Stopped:
            raise
        except Exception:
            queue.blame(number)
            raise
        queue.finish(number, None)


@contextmanager
def _stoppable(batch: Batch, queue: Queue) -> Iterator[None]:
    """SIGTERM raises Stopped in the block, so that it ends its workers as it does after Ctrl-C.

    Only in the main thread, where Python runs handlers; a SIGTERM that is ignored stays so.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        done = len(batch.arguments) - queue.left
        raise Stopped(
            f"{batch.title}: stopped by SIGTERM; {done} of {len(batch.arguments)} tasks are done and kept. "
            "Type the same command to go on"
        )

    before = signal.getsignal(signal.SIGTERM)
    if threading.current_thread() is not threading.main_thread() or before is signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)
