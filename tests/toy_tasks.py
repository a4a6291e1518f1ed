"""Tasks for the tests of danlu.jobs: at the top of a module that workers can import, each with one JSON argument."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from danlu.errors import InputError

Argument = dict[str, Any]


def square(argument: Argument) -> None:
    """Writes n * n under the number's name, whole or not at all."""
    place = Path(argument["out"]) / str(argument["n"])
    temporary = place.with_name(f".tmp-{place.name}-{os.getpid()}")
    temporary.write_text(str(argument["n"] ** 2))
    temporary.replace(place)


def speak(argument: Argument) -> None:
    """Says two lines on standard error, one of them with no end."""
    print(f"hello from {argument['n']}", file=sys.stderr)
    print("no end", end="", file=sys.stderr)


def refuse(argument: Argument) -> None:
    """Fails as danlu does on purpose."""
    raise InputError(f"line {argument['n']} of the file is bad; mend it")


def break_down(argument: Argument) -> None:
    """Fails as a bug does."""
    square({**argument, "out": argument["missing"]})


def die_once(argument: Argument) -> None:
    """As `square`, but the first attempts end without a word: `deaths` of them, by `signal` or with an exit code."""
    attempts = Path(argument["out"]) / f"attempts-{argument['n']}"
    with attempts.open("a") as file:
        file.write("x")
    if attempts.stat().st_size <= argument["deaths"]:
        if "signal" in argument:
            os.kill(os.getpid(), argument["signal"])
        sys.exit(3)
    square(argument)


def wait_to_be_killed(argument: Argument) -> None:
    """Says who it is in a file, and never ends."""
    (Path(argument["out"]) / f"pid-{os.getpid()}").touch()
    while True:
        signal.pause()


def wait_for(argument: Argument) -> None:
    """Ends when a file appears."""
    (Path(argument["out"]) / f"pid-{os.getpid()}").touch()
    while not Path(argument["file"]).exists():
        time.sleep(0.005)


def show_threads(argument: Argument) -> None:
    """Writes how many threads the libraries would use, and how many are alive beside the task's own."""
    import numba
    import pyarrow

    counts = (numba.config.NUMBA_NUM_THREADS, pyarrow.cpu_count(), threading.active_count() - 1)
    (Path(argument["out"]) / str(argument["n"])).write_text(str(counts))
