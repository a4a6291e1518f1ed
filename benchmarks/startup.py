"""How long `danlu --help` takes from typing to the prompt, beside a Python that does nothing.

Alternates the two, prints medians: the difference is what the command line's imports cost. What is seldom used must
be imported where it is used. Run: python benchmarks/startup.py [REPEATS]
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import time

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "danlu --help": [sys.executable, "-m", "danlu", "--help"],
}


def seconds(command: list[str]) -> float:
    """Wall time of one run of a command."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main() -> None:
    """Prints the median of each command."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    for command in COMMANDS.values():
        seconds(command)  # fills the disk cache and compiles the bytecode
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(repeats):
        for name, command in COMMANDS.items():
            taken[name].append(seconds(command))
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, median of {repeats}"
    )
    for name, times in taken.items():
        print(f"  {name:<16}{statistics.median(times) * 1e3:7.0f} ms  (least {min(times) * 1e3:.0f} ms)")


if __name__ == "__main__":
    main()
