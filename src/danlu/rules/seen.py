"""What of a text was seen before: a set of 64-bit hashes in one array that the kernels of this folder share.

Decides: open addressing over zeroed slots, at most half full; as many as a text needs, so that they stay in cache.
Two different things of one text have the same hash with a chance of about n^2 / 2^65: for 100,000 words, 3 in ten
thousand million. Guarantees: no allocation but where a text is larger than every one before; one text at a time,
one thread a process. Costs: 2-4 ns an entry while the table fits the cache.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

FEWEST_BITS = 6
SPREAD = np.uint64(0xFF51AFD7ED558CCD)
HALF = np.uint64(32)

Keys = npt.NDArray[np.uint64]


class _Slots:
    """The array, which only grows."""

    keys: Keys = np.empty(1 << 12, np.uint64)


def slots_for(entries: int) -> Keys:
    """The shared array, large enough for so many entries."""
    slots = max(4 * entries, 1 << FEWEST_BITS)
    if len(_Slots.keys) < slots:
        _Slots.keys = np.empty(2 * slots, np.uint64)
    return _Slots.keys


@njit(cache=True, nogil=True)
def clear(keys: Keys, entries: int) -> int:
    """Empties the slots that so many entries need; returns the bits of a slot's index, below 4 * entries or 6 bits."""
    bits = FEWEST_BITS
    while 1 << bits < 2 * entries:
        bits += 1
    # A loop: assigning to a slice takes seconds to compile.
    for slot in range(1 << bits):
        keys[slot] = np.uint64(0)
    return bits


@njit(cache=True, nogil=True)
def spread(value: np.uint64, bits: int) -> np.int64:
    """A number of so many bits that every bit of a hash has a part in."""
    return np.int64(((value ^ (value >> HALF)) * SPREAD) >> np.uint64(64 - bits))


@njit(cache=True, nogil=True)
def find_slot(keys: Keys, bits: int, value: np.uint64) -> np.int64:
    """The slot of a hash: it holds `value`, or 0 where the hash was not seen. 0 itself is never in it."""
    slot = spread(value, bits)
    mask = (1 << bits) - 1
    while keys[slot] != value and keys[slot] != np.uint64(0):
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)
def seen_before(keys: Keys, bits: int, value: np.uint64) -> bool:
    """Whether a hash was added before; adds it."""
    stored = value if value else SPREAD
    slot = find_slot(keys, bits, stored)
    if keys[slot] == stored:
        return True
    keys[slot] = stored
    return False
