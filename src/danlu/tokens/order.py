"""The order of the data: sample number t of a run -> the domain, epoch and sample that it is. No state.

Decides. Which domain: the largest-deficit sequence over whole-number sample shares k of 2^20, which repeats after
2^20 / gcd(k) samples; at every prefix |count - share * n| < 2. Which sample: an epoch of a domain sorts its groups,
and the samples within a group, by a 64-bit hash of (seed, domain, epoch, index). Guarantees: a pure function of
(seed, shares, sample counts), exact 64-bit integers at any t; every sample once an epoch.
Costs: building the table, 6 bytes an entry, by a compiled function; an epoch's groups and a group's samples are sorted
when first met and kept (15T tokens: 3.75M groups, about a second); then microseconds a sample.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.errors import InputError
from danlu.records import Ints
from danlu.rng import hash_key, hash_range


@dataclass(frozen=True, slots=True)
class Location:
    """Where a sample lies: number `sample` of `group` of a domain (counted over all groups), in epoch `epoch`."""

    domain: str
    epoch: int
    group: int
    sample: int


class Order:
    """`shares`: domain -> whole sample share; `group_offsets`: domain -> first sample of each group, then the total.

    Only ratios of the shares count. Safe to call from several threads.
    """

    def __init__(self, seed: int, shares: Mapping[str, int], group_offsets: Mapping[str, Ints]) -> None:
        self.domains = sorted(shares)
        for domain in self.domains:
            if group_offsets[domain][-1] < 1:
                raise InputError(f"domain {domain!r} has no sample")
        self._seed = seed
        self._offsets = [group_offsets[domain] for domain in self.domains]
        self._sizes = [int(offsets[-1]) for offsets in self._offsets]
        divisor = math.gcd(*shares.values())
        self._shares = [shares[domain] // divisor for domain in self.domains]
        self.period = sum(self._shares)
        """After so many samples the sequence of domains repeats."""
        self._domain_at, self._before = deficit_table(np.array(self._shares, dtype=np.int64))
        kept = 2 * len(self.domains) + 2
        self._epoch_groups = lru_cache(maxsize=kept)(self._sort_groups)
        self._group_samples = lru_cache(maxsize=2 * kept)(self._sort_samples)

    def locate(self, number: int) -> Location:
        """The sample shown as sample `number` of the run, 0 at its start."""
        cycle, entry = divmod(number, self.period)
        domain = int(self._domain_at[entry])
        shown = cycle * self._shares[domain] + int(self._before[entry])
        epoch, place = divmod(shown, self._sizes[domain])
        groups, ends = self._epoch_groups(domain, epoch)
        nth = bisect_right(ends, place)  # much faster than numpy's for one number
        group = int(groups[nth])
        offsets = self._offsets[domain]
        first = int(offsets[group])
        place -= int(ends[nth]) - (int(offsets[group + 1]) - first)
        sample = first + int(self._group_samples(domain, epoch, group)[place])
        return Location(self.domains[domain], epoch, group, sample)

    def counts(self, total: int) -> dict[str, int]:
        """How many of the first `total` samples come from each domain."""
        cycles, entries = divmod(total, self.period)
        head = np.bincount(self._domain_at[:entries], minlength=len(self.domains))
        return {domain: cycles * self._shares[i] + int(head[i]) for i, domain in enumerate(self.domains)}

    def samples_of(self, domain: str) -> int:
        """Samples of one epoch of a domain."""
        return self._sizes[self.domains.index(domain)]

    def _sort_groups(self, domain: int, epoch: int) -> tuple[Ints, Ints]:
        """The groups of an epoch in their order, and the samples up to the end of each."""
        sizes = np.diff(self._offsets[domain])
        key = hash_key(self._seed, "groups", self.domains[domain], epoch)
        groups = np.argsort(hash_range(key, 0, len(sizes)), kind="stable")
        return groups, np.cumsum(sizes[groups])

    def _sort_samples(self, domain: int, epoch: int, group: int) -> Ints:
        """The samples of a group in their order, counted from the group's first."""
        first, stop = (int(bound) for bound in self._offsets[domain][group : group + 2])
        key = hash_key(self._seed, "samples", self.domains[domain], epoch)
        return np.argsort(hash_range(key, first, stop), kind="stable")


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
