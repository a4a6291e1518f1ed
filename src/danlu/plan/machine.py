"""What this machine offers a run: processor, usable cores, memory that is free now.

Decides: a container's or a batch system's limit counts, not the hardware behind it. Costs: a few small files
of /proc and /sys; what cannot be read is None. No torch.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path

from danlu.jobs.cores import usable_cores

_CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Machine:
    """The processor's name, the cores this process may use, and its free memory in bytes (None: unknown)."""

    processor: str
    cores: int
    memory_available: int | None
    system: str


def read_machine() -> Machine:
    """The machine as it is now."""
    free = [size for size in (_free_memory(), _cgroup_room(_CGROUP)) if size is not None]
    return Machine(
        processor=_processor(Path("/proc/cpuinfo")),
        cores=usable_cores(),
        memory_available=min(free, default=None),
        system=f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
    )


def _processor(cpuinfo: Path) -> str:
    names = [line for line in _lines(cpuinfo) if line.startswith("model name")]
    return names[0].partition(":")[2].strip() if names else platform.processor() or platform.machine()


def _free_memory() -> int | None:
    for line in _lines(Path("/proc/meminfo")):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _cgroup_room(cgroup: Path) -> int | None:
    """What a container (cgroup v2) may still allocate."""
    limit, used = _lines(cgroup / "memory.max"), _lines(cgroup / "memory.current")
    if not limit or not used or limit[0] == "max":
        return None
    return max(0, int(limit[0]) - int(used[0]))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
