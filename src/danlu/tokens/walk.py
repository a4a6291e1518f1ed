"""Which sample of a domain comes next: number n of the samples shown of it -> the epoch and the sample. No state.

A walk goes over one cutting of a domain (sequence length, packing, order), in groups that are packed alone. Decides: an
epoch sorts the groups by a 64-bit hash of (seed, domain, epoch, index), or keeps their order where the domain is an
ordered one, and sorts the samples within a group by such a hash. Where the cutting changes in mid-epoch, the new walk
begins with the rest of that epoch, cut anew, and goes on with whole ones.
Guarantees: a pure function of the seed and the sample counts, exact 64-bit integers at any n; every sample once an
epoch. Costs: an epoch's groups and a group's samples are sorted when first met and kept (15T tokens: 3.75M groups,
about a second); then microseconds a sample.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from danlu.errors import InputError
from danlu.records import Ints
from danlu.rng import hash_key, hash_range

_KEPT_EPOCHS = 2
_KEPT_SAMPLES = 1 << 20
"""Of groups whose samples were put into their order: 8 MiB a walk."""
_NONE: Ints = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Location:
    """Where a sample lies: number `sample` of `group` (counted over all groups) in epoch `epoch`.

    `rest`: of what was left of the epoch when the cutting changed, whose groups and samples count on their own.
    """

    epoch: int
    group: int
    sample: int
    rest: bool = False


@dataclass(frozen=True, slots=True)
class Unseen:
    """What is left of an epoch: some samples of the group under way, in their order, and whole groups in theirs.

    Nothing where an epoch has just ended: `epoch` is the next one then.
    """

    rest: bool
    epoch: int
    samples: Ints
    groups: Ints

    def __bool__(self) -> bool:
        return len(self.samples) > 0


class Walk:
    """`offsets`: the first sample of each group, then their number; `rest` the same for what is left of `first_epoch`.

    `ordered` keeps the groups in their order. Safe to call from several threads.
    """

    def __init__(
        self,
        seed: int,
        domain: str,
        offsets: Ints,
        *,
        first_epoch: int = 0,
        rest: Ints | None = None,
        ordered: bool = False,
    ) -> None:
        if offsets[-1] < 1:
            raise InputError(f"domain {domain!r} has no sample")
        self._seed, self._domain, self._ordered = seed, domain, ordered
        self._offsets, self._rest = offsets, rest
        self._first_epoch = first_epoch
        self.samples = int(offsets[-1])
        """Of a whole epoch."""
        self.rest_samples = int(rest[-1]) if rest is not None else 0
        """Of what is left of the first epoch."""
        self._groups_of = lru_cache(maxsize=_KEPT_EPOCHS)(self._sort_groups)
        kept_groups = max(4, _KEPT_SAMPLES * (len(offsets) - 1) // self.samples)
        self._samples_of = lru_cache(maxsize=kept_groups)(self._sort_samples)

    def locate(self, shown: int) -> Location:
        """The sample that follows the first `shown` ones."""
        rest, epoch, place = self._place(shown)
        groups, ends = self._groups_of(rest, epoch)
        nth = bisect_right(ends, place)  # much faster than numpy's for one number
        group = int(groups[nth])
        offsets = self._table(rest)
        first = int(offsets[group])
        place -= int(ends[nth]) - (int(offsets[group + 1]) - first)
        return Location(epoch, group, first + int(self._samples_of(rest, epoch, group)[place]), rest)

    def unseen(self, shown: int) -> Unseen:
        """What of the epoch under way is left after the first `shown` samples."""
        rest, epoch, place = self._place(shown)
        if place == 0 and not rest:
            return Unseen(False, epoch, _NONE, _NONE)
        groups, ends = self._groups_of(rest, epoch)
        nth = bisect_right(ends, place)
        group = int(groups[nth])
        offsets = self._table(rest)
        order = self._samples_of(rest, epoch, group)
        left = int(offsets[group]) + order[len(order) - (int(ends[nth]) - place) :]
        return Unseen(rest, epoch, left, groups[nth + 1 :])

    def _place(self, shown: int) -> tuple[bool, int, int]:
        """Whether the sample is of the rest, its epoch, and its place within either."""
        if shown < self.rest_samples:
            return True, self._first_epoch, shown
        epochs, place = divmod(shown - self.rest_samples, self.samples)
        return False, self._first_epoch + (self.rest_samples > 0) + epochs, place

    def _table(self, rest: bool) -> Ints:
        return self._rest if rest and self._rest is not None else self._offsets

    def _sort_groups(self, rest: bool, epoch: int) -> tuple[Ints, Ints]:
        """The groups of an epoch in their order, and the samples up to the end of each."""
        sizes = np.diff(self._table(rest))
        groups = np.arange(len(sizes))
        if not self._ordered:
            groups = np.argsort(hash_range(self._key("groups", rest, epoch), 0, len(sizes)))
        return groups, np.cumsum(sizes[groups])

    def _sort_samples(self, rest: bool, epoch: int, group: int) -> Ints:
        """The samples of a group in their order, counted from the group's first.

        Hashes of different numbers differ, so that any sort gives the same.
        """
        first, stop = (int(bound) for bound in self._table(rest)[group : group + 2])
        return np.argsort(hash_range(self._key("samples", rest, epoch), first, stop))

    def _key(self, what: str, rest: bool, epoch: int) -> int:
        return hash_key(self._seed, f"{what} of the rest" if rest else what, self._domain, epoch)
