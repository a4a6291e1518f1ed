"""A process that is killed, as by kill -9, at a chosen call of the system that changes what is on disk."""

from __future__ import annotations

import subprocess
import sys

_BEFORE = """
import os, signal, sys
from pathlib import Path
left = int(sys.argv.pop(1))
def counted(real):
    def call(*arguments, **named):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **named)
    return call
for name in ("fsync", "rename", "replace", "mkdir", "unlink", "rmdir", "link"):
    setattr(os, name, counted(getattr(os, name)))
"""


def run_killed(place: int, statements: str, *arguments: object) -> bool:
    """Runs statements, which find `arguments` in sys.argv[1:], and kills them at that call; whether they got there."""
    command = [sys.executable, "-c", _BEFORE + statements, str(place), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, -9), done.stderr
    return done.returncode == -9
