"""The process in which pages are extracted: `python -m danlu.extract.worker EXTRACTOR`, started by guard.py alone.

Decides: a page has 10 s of processor time and 4 s for each MB, after which the system ends the process, whatever loop
it is in; and MEMORY_BYTES, after which the page fails. It says whether the extractor loads; then it reads a header line
and a page's bytes from standard input and answers with a line of JSON, until the input ends: it does not outlive its
parent. Costs: the import of the extractor.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from contextlib import suppress
from typing import Any, BinaryIO

from danlu.extract.html import extract_page, load

CPU_SECONDS, CPU_SECONDS_PER_MB = 10.0, 4.0
MEMORY_BYTES = 6 << 30


def serve(extractor: str, asked: BinaryIO, answered: BinaryIO) -> None:
    """Says that it is there, then answers pages until `asked` ends."""
    try:
        load(extractor)
    except ImportError as error:
        _answer(answered, {"error": str(error)})
        return
    _answer(answered, {})
    while head := asked.readline():
        page = json.loads(head)
        data = asked.read(page["bytes"])
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS + CPU_SECONDS_PER_MB * len(data) / 1e6)
        try:
            found = extract_page(data, page["charset"], extractor)
            answer: dict[str, Any] = {"title": found.title, "text": found.text, "replaced": found.replaced}
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
        serve(sys.argv[1], sys.stdin.buffer, answered)


if __name__ == "__main__":
    main()
