"""Notices that someone wants the process to stop, and lets the loop finish its step and save first.

Guarantees: a signal only sets a flag, so no write is interrupted; a second Ctrl-C ends the process at once,
which loses the steps since the last save and nothing else. Costs: one attribute read a step.
"""

from __future__ import annotations

import contextlib
import os
import signal
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
_NOTICE = b"\nstopping after this step; Ctrl-C again to stop at once\n"


class Preemption:
    """While the block runs, SIGINT, SIGTERM and SIGUSR1 (Slurm's warning) set `requested` to the signal's
    name.

    Only in the main thread, where Python runs handlers; the handlers of before come back at the end.
    """

    def __init__(self) -> None:
        self.requested: str | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Preemption:
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del frame
        if number == signal.SIGINT and self.requested == "SIGINT":
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        self.requested = signal.Signals(number).name
        if number == signal.SIGINT:
            # Not print: a handler may run inside one. A closed terminal has nobody to tell.
            with contextlib.suppress(OSError):
                os.write(2, _NOTICE)
