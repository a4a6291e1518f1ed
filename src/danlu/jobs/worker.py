"""A worker's life in a pool: arguments in, reports out, until its channel is closed.

Guarantees: a worker ends when the process that it works for does, also in the midst of a task. Costs: one waiting
thread.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import sys
import threading
import traceback
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from danlu.jobs.task import encode, find_function, perform

SAID, DONE = "said", "done"
"""The two messages of a worker: a line for the user, and the end of a task with its failure or null."""


def serve(channel: Connection, function: str) -> NoReturn:
    """Runs a function on one argument after the other, and ends the process."""
    threading.Thread(target=_end_with, args=(channel,), daemon=True).start()

    def send(kind: str, value: Any) -> None:
        channel.send_bytes(encode([kind, value]).encode())

    code = 1
    try:
        task = find_function(function)
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                argument = json.loads(channel.recv_bytes())
                send(DONE, perform(task, argument, lambda line: send(SAID, line)))
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # Not through the interpreter's end: a forked process must not run what belongs to its parent.
        os._exit(code)


def _end_with(channel: Connection) -> None:
    """Ends the process when the other end of its channel is gone."""
    hung_up = select.poll()
    hung_up.register(channel.fileno(), 0)
    hung_up.poll()
    os._exit(1)
