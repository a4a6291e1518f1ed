"""How much memory this process holds, now and at most, as the system counts it.

Decides: resident size, which is what a machine runs out of; it stands above the tensors by the allocator's and the
kernels' scratch. Costs: one small file of /proc; elsewhere `getrusage`, whose peak serves for both.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")


def resident_bytes() -> int:
    """Resident memory of this process now."""
    return _field("VmRSS")


def peak_bytes() -> int:
    """The largest resident memory of this process so far."""
    return _field("VmHWM")


def _field(name: str) -> int:
    if _STATUS.exists():
        for line in _STATUS.read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
