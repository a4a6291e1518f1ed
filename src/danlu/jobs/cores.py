"""How many cores this process may use, and so how many workers "auto" is.

Decides: the affinity and a container's or a batch system's quota count (cgroup v2 and v1, the tightest on the way up),
not the hardware behind them. Costs: a few small files of /proc and /sys.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def usable_cores(proc: Path = Path("/proc"), cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """Whole cores, at least 1."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([cores, *(int(quota) for quota in _quotas(proc, cgroup))]))


def _quotas(proc: Path, cgroup: Path) -> Iterator[float]:
    """The processor-time quotas, in cores, of the control groups that this process is in."""
    for line in _read(proc / "self" / "cgroup").splitlines():
        _, controllers, place = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        root = cgroup / "cpu" if controllers else cgroup
        group = root / place.lstrip("/")
        # Inside a container the path may be the host's, which is not there; the root always is.
        for folder in (group, *group.parents):
            yield from _quota(folder)
            if folder == root:
                break


def _quota(folder: Path) -> Iterator[float]:
    text = _read(folder / "cpu.max") or " ".join(
        _read(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")
    )
    match text.split():
        case [allowed, period] if allowed.isdigit():
            yield int(allowed) / int(period)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
