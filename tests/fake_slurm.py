"""Slurm's `sbatch`, `squeue` and `scancel` for the tests: an array runs here, at once, one task after the other.

`install` puts the three on the PATH. What they are called with is kept in STATE/calls.jsonl; STATE/refuse makes sbatch
fail while it exists, STATE/queue is what squeue shows, and with STATE/hold sbatch accepts and runs nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # each command is a process of its own, which has no need of it
    import pytest


def install(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The commands on the PATH of this process and its children; returns STATE."""
    state, programs = directory / "state", directory / "bin"
    state.mkdir()
    programs.mkdir()
    for name in ("sbatch", "squeue", "scancel"):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "{state}" {name} "$@"\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return state


def calls(state: Path, name: str) -> list[list[str]]:
    """The arguments of every call of one command."""
    lines = (state / "calls.jsonl").read_text().splitlines()
    return [arguments for command, *arguments in map(json.loads, lines) if command == name]


def _indices(array: str) -> list[int]:
    indices = []
    for part in array.partition("%")[0].split(","):
        first, _, last = part.partition("-")
        indices += range(int(first), int(last or first) + 1)
    return indices


def _sbatch(state: Path, arguments: list[str]) -> int:
    options = dict(word[2:].partition("=")[::2] for word in arguments if word.startswith("--"))
    words = [word for word in arguments if not word.startswith("--")]
    if (state / "refuse").exists():
        print("sbatch: error: QOSMaxSubmitJobPerUserLimit", file=sys.stderr)
        return 1
    print(f"{len(calls(state, 'sbatch'))};cluster", flush=True)
    if (state / "hold").exists():
        return 0
    for index in _indices(options["array"]):
        environment = {**os.environ, "SLURM_ARRAY_TASK_ID": str(index)}
        with Path(options["output"].replace("%a", str(index)).replace("%%", "%")).open("ab") as log:
            subprocess.run(["/bin/sh", *words], env=environment, stdout=log, stderr=log, check=False)
    return 0


def main(state: Path, name: str, arguments: list[str]) -> int:
    """Carries out one command."""
    with (state / "calls.jsonl").open("a") as file:
        file.write(json.dumps([name, *arguments]) + "\n")
    if name == "sbatch":
        return _sbatch(state, arguments)
    queue = state / "queue"
    if name == "squeue" and queue.exists():
        text = queue.read_text()
        print(text)
        return 1 if text == "down" else 0
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
