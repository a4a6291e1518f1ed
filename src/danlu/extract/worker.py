"""The process in which documents are extracted: `python -m danlu.extract.worker MODULE NAME`, started by guard.py.

MODULE has `load(name)`, which imports what is needed, and `answer(data, charset, name)`, a dictionary for JSON.

Decides: a page has 10 s of processor time and 4 s for each MB, after which the system ends the process, whatever loop
it is in; and MEMORY_BYTES, after which the page fails. It says whether the extractor loads; then it reads a header line
and a page's bytes from standard input and answers with a line of JSON, until the input ends: it does not outlive its
parent. Costs: the import of the extractor.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
from contextlib import suppress
from types import ModuleType
from typing import Any, BinaryIO

CPU_SECONDS, CPU_SECONDS_PER_MB = 10.0, 4.0
MEMORY_BYTES = 2 << 30
"""Of addresses; an extractor loaded takes 20 to 50 MB of them, and a machine has a process a worker."""


def serve(extractor: ModuleType, name: str, asked: BinaryIO, answered: BinaryIO) -> None:
    """Says that it is there, then answers documents until `asked` ends."""
    try:
        extractor.load(name)
    except ImportError as error:
        _answer(answered, {"error": str(error)})
        return
    _answer(answered, {})
    while head := asked.readline():
        page = json.loads(head)
        data = asked.read(page["bytes"])
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS + CPU_SECONDS_PER_MB * len(data) / 1e6)
        try:
            answer = extractor.answer(data, page["charset"], name)
        except Exception as error:  # whatever a parser says of a page is about this page alone
            answer = {"error": f"{type(error).__name__}: {error}"}
        signal.setitimer(signal.ITIMER_PROF, 0)
        _answer(answered, answer)


def _answer(answered: BinaryIO, value: dict[str, Any]) -> None:
    answered.write(json.dumps(value).encode() + b"\n")
    answered.flush()


def main() -> None:
    """Serves standard input; what libraries print goes nowhere, so that answers stay whole."""
    # Ctrl-C reaches all processes of a terminal; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(ValueError, OSError):  # not every system lets a process limit its memory
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with os.fdopen(os.dup(1), "wb") as answered:
        os.dup2(2, 1)
        serve(importlib.import_module(sys.argv[1]), sys.argv[2], sys.stdin.buffer, answered)


if __name__ == "__main__":
    main()
