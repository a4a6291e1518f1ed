"""A process without threads that has loaded the heavy packages once, and forks the workers of a pool from itself.

A worker so starts in milliseconds and shares the packages' memory; this process may have as many threads as it likes.
Guarantees: whatever ends this process, kill -9 too, ends the nursery and all its workers; Ctrl-C and signals to
the process group reach this process alone. Costs: a second at the first start, about 120 MB while it lives.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from typing import Any

from danlu.jobs.task import ONE_THREAD
from danlu.jobs.worker import serve

_PRELOADED = ("numba", "pyarrow.parquet")
"""What most tasks load, some of them only while they run."""

_ENVIRONMENT = {**ONE_THREAD, "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""Beside the workers' own: Arrow is kept from starting a thread, which a fork would not carry over."""

_COMMAND = "import sys; from danlu.jobs.nursery import keep; keep(int(sys.argv[1]))"
_REPLY = struct.Struct("=q")
_REQUEST_BYTES = 65536
_END_SECONDS = 5.0


class Nursery:
    """The other process, as it is seen from this one. A request that fails is a ConnectionError: it is gone."""

    def __init__(self) -> None:
        self._requests, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _COMMAND, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": os.pathsep.join(sys.path)},
                process_group=0,
            )

    def fork(self, function: str) -> Worker:
        """A new worker for a function, "module:name"."""
        ours, theirs = Pipe()
        with theirs:
            process_id = self._ask({"fork": function}, [theirs.fileno()])
        return Worker(self, process_id, ours)

    def end(self, process_id: int) -> int:
        """Kills a worker where it still runs; its exit code, or minus the signal that ended it."""
        return self._ask({"end": process_id}, [])

    def close(self) -> None:
        """Ends all workers, whatever they do, and the nursery; returns when they are gone."""
        self._requests.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ask(self, request: dict[str, Any], descriptors: list[int]) -> int:
        try:
            socket.send_fds(self._requests, [json.dumps(request).encode()], descriptors)
            reply = self._requests.recv(_REPLY.size, socket.MSG_WAITALL)
        except OSError:
            # The other end is gone, or this one: closed, while a worker of it was still at work.
            reply = b""
        if len(reply) < _REPLY.size:
            raise ConnectionError("the process that starts the workers has ended")
        return int(_REPLY.unpack(reply)[0])


@dataclass(frozen=True)
class Worker:
    """A forked process, and the channel that its arguments and reports go through."""

    nursery: Nursery
    process_id: int
    channel: Connection

    def end(self) -> int | None:
        """Ends the worker at once; its exit code as in `Nursery.end`, None where that was lost with the nursery."""
        # A worker ends by itself when its channel is closed: so do those that no nursery can end any more.
        self.channel.close()
        try:
            return self.nursery.end(self.process_id)
        except ConnectionError:
            return None


def keep(requests: int) -> None:
    """The nursery's life: carries out requests until this end of the socket is the last one."""
    # A parent that ignores SIGCHLD hands that on, and no exit code could be asked for.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for name in _PRELOADED:
        importlib.import_module(name)
    children: set[int] = set()
    with socket.socket(fileno=requests) as control:
        while True:
            data, descriptors, _, _ = socket.recv_fds(control, _REQUEST_BYTES, 1)
            if not data:
                break
            match json.loads(data):
                case {"fork": str(function)}:
                    reply = _fork(function, descriptors[0], control)
                    children.add(reply)
                case {"end": int(process_id)}:
                    children.remove(process_id)
                    reply = _end(process_id)
            with contextlib.suppress(ConnectionError):
                control.sendall(_REPLY.pack(reply))
    for process_id in children:
        _end(process_id)


def _fork(function: str, channel: int, control: socket.socket) -> int:
    # Here and not in the child, so that the next worker finds it loaded.
    importlib.import_module(function.partition(":")[0])
    process_id = os.fork()
    if process_id == 0:
        control.close()
        serve(Connection(channel), function)
    os.close(channel)
    return process_id


def _end(process_id: int) -> int:
    # A process that has exited keeps its exit code, and its number until it is waited for.
    os.kill(process_id, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(process_id, 0)[1])
