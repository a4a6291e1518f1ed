"""What the peers' scripts share: the documents, a clock for processor and wall time, one JSON object at the end.

The scripts of this folder run in a Python of the peer's own, which has no danlu: they import nothing of it.
"""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

WARM_UP = "The first words of a text load what a library loads once. They are not timed.\n"


def read_documents(path: str) -> list[dict[str, Any]]:
    """All rows of a jsonl file."""
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").split("\n") if line]


def cpu_seconds() -> float:
    """Processor time of this process and of the children that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def peak_mib() -> float:
    """The most that this process, or one that it has waited for, held.

    Its own is not ru_maxrss, which begins with what the process held that started it.
    """
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    own = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    return max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024


class Clock:
    """Times named stages, in seconds of the processor and of the wall."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}
        self.cpu_s = 0.0
        self.wall_s = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Adds the block's time to a stage."""
        wall, cpu = time.perf_counter(), cpu_seconds()
        yield
        spent = cpu_seconds() - cpu
        self.cpu_s += spent
        self.wall_s += time.perf_counter() - wall
        self.stages[name] = self.stages.get(name, 0.0) + spent

    def report(self, package: str, **found: Any) -> None:
        """Prints the JSON object that the benchmark reads; `found` is the case's own."""
        measured = {
            "package": f"{package} {version(package)}",
            "cpu_s": self.cpu_s,
            "wall_s": self.wall_s,
            "stages_cpu_s": self.stages,
            "peak_mib": peak_mib(),
        }
        print(json.dumps({**measured, **found}))
