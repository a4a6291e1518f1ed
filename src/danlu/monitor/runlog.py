"""Writes what happens in a run as JSON lines that any tool can follow: metrics, evaluations, events, samples.

Guarantees: a line is whole or, after a kill, the last one is torn and ended by the next writer; not-a-number
is written as null, because JSON has none. Costs: one write of some hundred bytes a line, never an fsync: a
log may lose its last seconds in a power cut, a training step may not wait for the disk.
"""

from __future__ import annotations

import errno
import json
import math
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import IO, Any

from danlu.files import TEMPORARY, disk_errors

METRICS = "metrics.jsonl"
EVALUATIONS = "evaluations.jsonl"
EVENTS = "events.jsonl"
SAMPLES = "samples.jsonl"
HEARTBEAT = "heartbeat"
_HEARTBEAT_SECONDS = 1.0


class RunLog:
    """The logs of one run directory; `close` it, or use contextlib.closing."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._files: dict[str, IO[bytes]] = {}
        self._beat_at = -math.inf

    def metrics(self, step: int, **numbers: float | int | None) -> None:
        """The numbers of a training step; also a heartbeat."""
        self._append(METRICS, {"step": step, **numbers})
        self.heartbeat(step)

    def evaluation(self, step: int, result: Any, **numbers: float | int | None) -> None:
        """One domain's measures at a step; `result` is a dataclass or a mapping, whose fields are written."""
        fields = asdict(result) if is_dataclass(result) and not isinstance(result, type) else dict(result)
        self._append(EVALUATIONS, {"step": step, **numbers, **fields})

    def event(self, kind: str, **what: Any) -> None:
        """Something that happened: saved, resumed, stopped, replayed, checkpoint_damaged, ..."""
        self._append(EVENTS, {"kind": kind, **what})

    def sample(self, step: int, prompt: str, text: str, **what: Any) -> None:
        """A prompt as the model continued it at a step."""
        self._append(SAMPLES, {"step": step, **what, "prompt": prompt, "text": text})

    def heartbeat(self, step: int) -> None:
        """Shows that the run is alive: step, time and process, at most once a second."""
        now = time.monotonic()
        if now - self._beat_at < _HEARTBEAT_SECONDS:
            return
        self._beat_at = now
        temporary = self._directory / f"{TEMPORARY}{HEARTBEAT}"
        with disk_errors(temporary):
            temporary.write_text(json.dumps({"step": step, "time": _now(), "process": os.getpid()}) + "\n")
            temporary.replace(self._directory / HEARTBEAT)

    def close(self) -> None:
        """Closes the files; a later line opens them again."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _append(self, name: str, row: dict[str, Any]) -> None:
        row = {**_plain(row), "time": _now()}
        data = (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n").encode()
        path = self._directory / name
        with disk_errors(path):
            if name not in self._files:
                self._files[name] = _open(path)
            if self._files[name].write(data) != len(data):
                # Opened again, the torn line is ended before the next one.
                self._files.pop(name).close()
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _open(path: Path) -> IO[bytes]:
    """Unbuffered, so that a line is one write; ends the torn last line of an earlier kill."""
    file = path.open("ab+", buffering=0)
    if file.tell() > 0:
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")
    return file


def _plain(value: Any) -> Any:
    """The value with null for every number that is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _now() -> float:
    return round(time.time(), 3)
