"""What is run: one function by its name, many JSON arguments, and a report of each run that any engine can carry.

Guarantees: an argument reaches the function as JSON would write and read it, whatever the engine; an error of danlu's
comes back with its class and message, any other with its traceback; what a task says on standard error reaches the
user. Costs: nothing beside the JSON. A task is idempotent: it may run twice, and writes whole or not at all.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypedDict

from danlu import errors

Task = Callable[[dict[str, Any]], None]
"""A function at the top of a module; its one argument is a JSON object."""

_THREAD_COUNTS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
)
ONE_THREAD = dict.fromkeys(_THREAD_COUNTS, "1")
"""The environment of a worker: there is one worker a core, so that a library's own threads would only compete."""

_ARGUMENT_CHARACTERS = 120


class Failure(TypedDict):
    """An error as JSON: the class in danlu.errors, or "" for any other; its message; its traceback."""

    kind: str
    message: str
    traceback: str


@dataclass(frozen=True)
class Batch:
    """Tasks of one kind: the function, one argument a task, what to call them, and the bytes that each reads."""

    task: Task
    arguments: Sequence[dict[str, Any]]
    title: str
    sizes: Sequence[int] | None = None

    def __post_init__(self) -> None:
        if self.sizes is not None and len(self.sizes) != len(self.arguments):
            raise ValueError(f"{self.title}: {len(self.sizes)} sizes of {len(self.arguments)} tasks")

    def name(self, number: int) -> str:
        """One task as the user reads it: title, number from 1 on, the beginning of its argument."""
        argument = encode(self.arguments[number])
        if len(argument) > _ARGUMENT_CHARACTERS:
            argument = f"{argument[:_ARGUMENT_CHARACTERS]}..."
        return f"{self.title}, task {number + 1} of {len(self.arguments)}, {argument}"


def encode(value: Any) -> str:
    """One line of ASCII JSON, also for lone surrogates."""
    return json.dumps(value, separators=(",", ":"))


def function_name(task: Task) -> str:
    """A function as "module:name"; ValueError where it cannot be found again under that name."""
    name = f"{task.__module__}:{task.__qualname__}"
    if task.__module__ == "__main__" or "." in task.__qualname__ or find_function(name) is not task:
        raise ValueError(f"{name} is not a function at the top of a module that a worker can import")
    return name


def find_function(name: str) -> Task:
    """The function of `function_name`."""
    module, _, function = name.partition(":")
    found: Task = getattr(importlib.import_module(module), function)
    return found


def perform(task: Task, argument: dict[str, Any], say: Callable[[str], None]) -> Failure | None:
    """Runs one task in a worker; None where it went well. Each line of its standard error goes to `say`."""
    lines = _Lines(say)
    try:
        with contextlib.redirect_stderr(lines):
            task(argument)
    except Exception as error:
        kinds = [base.__name__ for base in type(error).__mro__ if base.__module__ == errors.__name__]
        message = str(error) if kinds else f"{type(error).__name__}: {error}"
        trace = "".join(traceback.format_exception(error))
        return Failure(kind=kinds[0] if kinds else "", message=message, traceback=trace)
    finally:
        lines.close()
    return None


def raise_failure(failure: Failure, name: str) -> NoReturn:
    """The error of a task, here: danlu's own as it was, any other as a RuntimeError that names the task."""
    if failure["kind"]:
        error: Exception = getattr(errors, failure["kind"])(failure["message"])
    else:
        error = RuntimeError(f"{failure['message']} (in {name})")
    error.add_note(f"In {name}:\n{failure['traceback']}")
    raise error


class _Lines(io.TextIOBase):
    """A text file that hands on whole lines."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._rest = say, ""

    def write(self, text: str) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._say(line)
        return len(text)

    def close(self) -> None:
        if self._rest:
            self._say(self._rest)
            self._rest = ""
        super().close()
