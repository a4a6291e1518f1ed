"""Which domain a sample comes from: sample number n of a stage -> the domain, and how many of it came before. No state.

Decides: the largest-deficit sequence over whole-number sample shares k of 2^20, which repeats after 2^20 / gcd(k)
samples; at every prefix |count - share * n| < 2. Guarantees: a pure function of the shares, exact 64-bit integers at
any n. Costs: building the table, 6 bytes an entry, by a compiled function; then a microsecond a sample.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.records import Ints


class Order:
    """`shares`: domain -> whole sample share; only their ratios count. Safe to call from several threads."""

    def __init__(self, shares: Mapping[str, int]) -> None:
        self.domains = sorted(shares)
        divisor = math.gcd(*shares.values())
        self._shares = [shares[domain] // divisor for domain in self.domains]
        self.period = sum(self._shares)
        """After so many samples the sequence of domains repeats."""
        self._domain_at, self._before = deficit_table(np.array(self._shares, dtype=np.int64))

    def locate(self, number: int) -> tuple[str, int]:
        """The domain of sample `number`, 0 at the stage's start, and how many of its samples came before it."""
        cycle, entry = divmod(number, self.period)
        domain = int(self._domain_at[entry])
        return self.domains[domain], cycle * self._shares[domain] + int(self._before[entry])

    def counts(self, total: int) -> dict[str, int]:
        """How many of the first `total` samples come from each domain."""
        cycles, entries = divmod(total, self.period)
        head = np.bincount(self._domain_at[:entries], minlength=len(self.domains))
        return {domain: cycles * self._shares[i] + int(head[i]) for i, domain in enumerate(self.domains)}


def deficit_table(shares: Ints) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.int32]]:
    """One period of the largest-deficit sequence: the domain of each entry, and that domain's count before it.

    Entry n goes to the domain with the largest shares[i] * (n+1) - count[i] * period, the first among equals.
    A domain is chosen only while its deficit is above 0, so that every count is exact at the end of the period.
    """
    period = int(shares.sum())
    domain_at = np.zeros(period, dtype=np.uint16)
    before = np.zeros(period, dtype=np.int32)
    _fill_deficit_table(shares, np.zeros_like(shares), np.zeros_like(shares), domain_at, before)
    return domain_at, before


@njit(cache=True, nogil=True)
def _fill_deficit_table(
    shares: Ints,
    deficits: Ints,
    counts: Ints,
    domain_at: npt.NDArray[np.uint16],
    before: npt.NDArray[np.int32],
) -> None:
    """Fills the two tables; `deficits` and `counts` begin as zeros. Made outside, arrays halve the compile time."""
    period = len(domain_at)
    for n in range(period):
        best = 0
        for i in range(len(shares)):
            deficits[i] += shares[i]
            if deficits[i] > deficits[best]:
                best = i
        domain_at[n] = best
        before[n] = counts[best]
        counts[best] += 1
        deficits[best] -= period
