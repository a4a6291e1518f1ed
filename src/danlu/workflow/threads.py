"""How waiting threads of OpenMP wait: spinning, or asleep. Decided before torch is imported, which reads it once.

Between the small operators of a training step a thread that spins is ready sooner (measured on two free cores: 1.4
times the speed); where the cores are shared it takes the core from the thread that works (measured: down to a third).
Decides: asleep ("passive") unless two threads really do the work of two right now; what the user set stays.
Costs: a tenth of a second. No torch.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import time

_ENOUGH_GAIN = 1.6
_SECONDS = 0.04
_BLOCK = bytes(1 << 20)


def settle_waiting() -> None:
    """Sets OMP_WAIT_POLICY to passive for this process and its children where that helps."""
    if "torch" in sys.modules or {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} & os.environ.keys():
        return
    if two_thread_gain() < _ENOUGH_GAIN:
        os.environ["OMP_WAIT_POLICY"] = "passive"


def two_thread_gain() -> float:
    """How much more two threads do than one: 2 on free cores, less where they are shared or busy."""
    one = _blocks(1)
    return _blocks(2) / max(one, 1)


def _blocks(threads: int) -> int:
    """Blocks hashed by so many threads together; hashing a large block leaves Python's lock to the others."""
    counts = [0] * threads
    end = time.perf_counter() + _SECONDS

    def work(number: int) -> None:
        while time.perf_counter() < end:
            hashlib.sha256(_BLOCK)
            counts[number] += 1

    running = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return sum(counts)
