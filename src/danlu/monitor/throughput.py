"""How fast a run trains: tokens a second of the steps alone, and the share of the device's peak (MFU).

Decides: evaluation and saves are no part of the rate; a device or number format whose peak is not known has
no MFU, because a guessed peak makes a wrong number look measured. Costs: one clock read a step.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_PEAK_FLOPS = {
    # Dense, without sparsity: NVIDIA's data sheets of A100 (2021), H100 (2023) and H200 (2024).
    ("NVIDIA A100-SXM4-40GB", "bf16"): 312e12,
    ("NVIDIA A100-SXM4-80GB", "bf16"): 312e12,
    ("NVIDIA A100-PCIE-40GB", "bf16"): 312e12,
    ("NVIDIA A100 80GB PCIe", "bf16"): 312e12,
    ("NVIDIA H100 80GB HBM3", "bf16"): 989e12,
    ("NVIDIA H100 PCIe", "bf16"): 756e12,
    ("NVIDIA H200", "bf16"): 989e12,
}


class Throughput:
    """Tokens a second over the last `window_steps` steps."""

    def __init__(self, window_steps: int = 20, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._steps: deque[tuple[int, float]] = deque(maxlen=window_steps)
        self._since = clock()

    def step(self, tokens: int) -> None:
        """A step of `tokens` ends now; it began where the last one ended."""
        now = self._clock()
        self._steps.append((tokens, now - self._since))
        self._since = now

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Time in this block (an evaluation, a save) is not counted."""
        began = self._clock()
        try:
            yield
        finally:
            self._since += self._clock() - began

    @property
    def tokens_per_second(self) -> float | None:
        """The rate; None before the first step."""
        seconds = sum(spent for _, spent in self._steps)
        return sum(tokens for tokens, _ in self._steps) / seconds if seconds > 0 else None


def flops_utilisation(flops_per_second: float, device: str, precision: str) -> float | None:
    """MFU (PaLM, Chowdhery et al.

    2022, appendix B) of a device by its torch name; None where its peak is not known.
    """
    peak = _PEAK_FLOPS.get((device, precision))
    return None if peak is None else flops_per_second / peak
