"""Tasks under Ray: actors of one core each on all nodes of a cluster, which pull one task after the other.

Ray's core alone is used, not Ray Data: the files that tasks write are the state, so that nothing needs Ray's object
store. Guarantees: a lost actor or node costs the time of its tasks; the loss of this machine's own node, after which
Ray starts nothing for this process, is an error; a connection that was made here is closed again. Decides: no cluster
is started, since on one machine the pool does the same with less. Costs: seconds to connect and to start an actor.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from danlu.errors import DanluError, MissingError
from danlu.jobs.queue import TRIES, Queue
from danlu.jobs.task import ONE_THREAD, Batch, encode, find_function, function_name, perform
from danlu.log import say

_TICK_SECONDS = 1.0


def work(batch: Batch, queue: Queue, workers: int) -> None:
    """Carries out a batch with at most so many actors (0: all cores); the errors are those of run_tasks."""
    function = function_name(batch.task)
    with _cluster() as ray:
        actors = _Actors(ray, function, batch, queue)
        try:
            while queue.left:
                actors.start(workers or max(1, int(ray.cluster_resources().get("CPU", 0))))
                actors.await_one()
                queue.tick()
        finally:
            actors.kill()


class _Worker:
    """An actor: a process on some node that runs a function of danlu on the arguments it is given."""

    def __init__(self, function: str) -> None:
        os.environ.update(ONE_THREAD)
        self._task = find_function(function)

    def ready(self) -> None:
        """Returns when the actor has a place and has loaded what it runs."""

    def perform(self, argument: str) -> str:
        """Runs one task; its failure or null, and what it said, as JSON."""
        said: list[str] = []
        failure = perform(self._task, json.loads(argument), said.append)
        return encode({"failure": failure, "said": said})


class _Actors:
    """The actors of a batch; `_running` is what is waited for: an actor with its task, or None until it is ready.

    A task is given to an actor that is ready and not before, so that none waits for a core while another is free.
    """

    def __init__(self, ray: Any, function: str, batch: Batch, queue: Queue) -> None:
        self._ray, self._function, self._batch, self._queue = ray, function, batch, queue
        self._make = ray.remote(num_cpus=1)(_Worker)
        self._running: dict[Any, tuple[Any, int | None]] = {}
        self._failed_starts = 0

    def start(self, most: int) -> None:
        """Starts actors for the tasks that wait, at most so many in all."""
        busy = self._busy()
        starting = len(self._running) - busy
        for _ in range(min(most - busy, self._queue.due(busy)) - starting):
            actor = self._make.remote(self._function)
            self._running[actor.ready.remote()] = actor, None

    def await_one(self) -> None:
        """Waits a moment for one actor, accounts for its task, and gives it the next."""
        done, _ = self._ray.wait(list(self._running), timeout=_TICK_SECONDS)
        if not done:
            self._check_own_node()
        for reference in done:
            actor, number = self._running.pop(reference)
            try:
                report = self._ray.get(reference)
            except self._ray.exceptions.RayError as error:
                self._ray.kill(actor)
                self._lose(number, str(error).partition("\n")[0])
                continue
            following = self._queue.take(self._busy()) if number is None else self._accept(number, report)
            if following is None:
                self._ray.kill(actor)
            else:
                argument = encode(self._batch.arguments[following])
                self._running[actor.perform.remote(argument)] = actor, following

    def kill(self) -> None:
        """Ends all actors, whatever they do."""
        for actor, _ in self._running.values():
            self._ray.kill(actor)

    def _busy(self) -> int:
        return sum(number is not None for _, number in self._running.values())

    def _check_own_node(self) -> None:
        own = self._ray.get_runtime_context().get_node_id()
        if any(node["NodeID"] == own and not node["Alive"] for node in self._ray.nodes()):
            raise DanluError(
                f"{self._batch.title}: the Ray node of this machine has ended, and Ray starts nothing for a process "
                'without one. Start it again ("ray start") and type the same command: what is done is kept. '
                "Ray's own logs say why it ended; most often memory ran out"
            )

    def _accept(self, number: int, text: str) -> int | None:
        report = json.loads(text)
        for line in report["said"]:
            say(line)
        self._queue.finish(number, report["failure"])
        return self._queue.take_first()

    def _lose(self, number: int | None, how: str) -> None:
        if number is not None:
            self._queue.lose(number, f"was lost ({how})", "Ray's own logs say more")
            return
        self._failed_starts += 1
        if self._failed_starts == TRIES:
            raise DanluError(
                f"{self._batch.title}: Ray cannot start a worker ({how}). "
                "danlu must be installed on every node, in the same version"
            )


@contextmanager
def _cluster() -> Iterator[Any]:
    """Ray, connected to the cluster that this process or this machine belongs to."""
    try:
        import ray
    except ImportError:
        raise MissingError('engine = "ray" needs Ray: pip install "danlu[cluster]"') from None
    if ray.is_initialized():
        yield ray
        return
    stop = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address="auto", logging_level=logging.WARNING, log_to_driver=False)
    except ConnectionError as error:
        raise MissingError(
            f'engine = "ray" finds no Ray cluster ({error}). Start one with "ray start --head", or say in RAY_ADDRESS '
            'where it is; on one machine, engine = "pool" does the same'
        ) from None
    try:
        if threading.current_thread() is threading.main_thread():
            # Ray has put its own in place of the handler that ends the tasks.
            signal.signal(signal.SIGTERM, stop)
        yield ray
    finally:
        ray.shutdown()
