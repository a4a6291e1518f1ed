"""Tasks in a pool of processes on this machine, which outlives the loss of any of its workers.

Guarantees: arguments and reports are JSON; when `work` is left by an error or a signal, no worker is left. Costs: a
worker starts in milliseconds from a nursery that stays, idle, until this process ends or `end_nursery` is called.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import signal
from multiprocessing import connection
from typing import Any

from danlu.errors import DanluError
from danlu.jobs.nursery import Nursery, Worker
from danlu.jobs.queue import TRIES, Queue
from danlu.jobs.task import Batch, encode, function_name
from danlu.jobs.worker import SAID
from danlu.log import say

_TICK_SECONDS = 1.0

_nurseries: list[Nursery] = []
"""The one that runs, or none."""


def work(batch: Batch, queue: Queue, workers: int) -> None:
    """Carries out a batch with at most so many workers; the errors are those of run_tasks."""
    function = function_name(batch.task)
    busy: dict[Any, tuple[Worker, int]] = {}

    def give(worker: Worker, number: int) -> None:
        busy[worker.channel] = worker, number
        # Of a worker that is gone already, the end of the channel is what comes back.
        with contextlib.suppress(ConnectionError):
            worker.channel.send_bytes(encode(batch.arguments[number]).encode())

    try:
        while queue.left:
            while len(busy) < workers and (number := queue.take(len(busy))) is not None:
                give(_start_worker(function), number)
            for channel in connection.wait(list(busy), _TICK_SECONDS):
                worker, number = busy[channel]
                message = _receive(worker)
                if message is None:
                    del busy[channel]
                    queue.lose(number, *_fate(worker.end()))
                elif message[0] == SAID:
                    say(message[1])
                else:
                    del busy[channel]
                    queue.finish(number, message[1])
                    following = queue.take_first()
                    if following is None:
                        worker.end()
                    else:
                        give(worker, following)
            queue.tick()
    except BaseException:
        for worker, _ in busy.values():
            worker.channel.close()
        end_nursery()
        raise


def end_nursery() -> None:
    """Ends the process that waits to start workers, and any worker; the next batch starts another."""
    while _nurseries:
        _nurseries.pop().close()


def _start_worker(function: str) -> Worker:
    for _ in range(TRIES):
        if not _nurseries:
            _nurseries.append(Nursery())
            atexit.register(end_nursery)
        try:
            return _nurseries[0].fork(function)
        except ConnectionError:
            # It may have been killed: its workers go on, and another nursery is started.
            end_nursery()
    raise DanluError(
        f"no worker can be started for {function}; the messages above may say why. "
        "With one worker everything runs in the main process"
    )


def _receive(worker: Worker) -> Any:
    """The next message; None where the worker went away, perhaps in the midst of one."""
    try:
        return json.loads(worker.channel.recv_bytes())
    except (EOFError, OSError):
        return None


def _fate(code: int | None) -> tuple[str, str]:
    """What became of a worker that went without a report, and what the user may do about it."""
    if code == -signal.SIGKILL:
        return "was killed (SIGKILL)", "Most often memory ran out: use fewer workers or smaller shards"
    advice = "The messages above may say why"
    if code is None:
        return "was lost", advice
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}", advice
    return f"ended with exit code {code}", advice
