"""What a figure was measured on: the processor, and whether its two cores are two."""

from __future__ import annotations

import os
import subprocess
import sys

from danlu.plan.machine import read_machine

_LOOP = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
end, n = time.perf_counter() + float(sys.argv[2]), 0
while time.perf_counter() < end:
    n += 1
print(n)
"""


def machine() -> str:
    """The processor's name and how many cores this process may use."""
    found = read_machine()
    return f"{found.processor}, {found.cores} cores"


def busy_loop_gain(seconds: float = 0.5) -> float:
    """How much more two pinned busy loops do than one: 2 on a quiet machine, less where cores are shared or busy."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    return _count(cores, seconds) / _count(cores[:1], seconds)


def _count(cores: list[int], seconds: float) -> int:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _LOOP, str(core), str(seconds)], stdout=subprocess.PIPE, text=True
        )
        for core in cores
    ]
    return sum(int(process.communicate()[0]) for process in running)
