"""64-bit hashes of spans of code points and of sequences of them: the one hash that all kernels share.

Guarantees: the same on every machine and in every process. Spans of different text get different values, but for
chance (2^-64 a pair). Costs: 3 ns a word.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Codes = npt.NDArray[np.uint32]

START = np.uint64(0x9E3779B97F4A7C15)
STEP = np.uint64(0x00000100000001B3)
FIRST_MIX = np.uint64(0xFF51AFD7ED558CCD)
SECOND_MIX = np.uint64(0xC4CEB9FE1A85EC53)
SHIFT = np.uint64(33)
STEP_SHIFT = np.uint64(29)
HALF = np.uint64(32)


@njit(cache=True, nogil=True)
def mix(value: np.uint64) -> np.uint64:
    """Every bit of the result depends on every bit of the value (the finalizer of MurmurHash3, a bijection)."""
    value = (value ^ (value >> SHIFT)) * FIRST_MIX
    value = (value ^ (value >> SHIFT)) * SECOND_MIX
    return value ^ (value >> SHIFT)


@njit(cache=True, nogil=True)
def hash_span(codes: Codes, begin: int, end: int) -> np.uint64:
    """The hash of the code points [begin, end)."""
    value = START ^ np.uint64(end - begin)
    # Two at a time: a step waits for the one before, whatever it takes in.
    for position in range(begin, end - 1, 2):
        value ^= np.uint64(codes[position]) | np.uint64(codes[position + 1]) << HALF
        value *= STEP
        value ^= value >> STEP_SHIFT
    if (end - begin) & 1:
        value = (value ^ np.uint64(codes[end - 1])) * STEP
        value ^= value >> STEP_SHIFT
    return mix(value)


@njit(cache=True, nogil=True)
def join_hashes(sequence: np.uint64, following: np.uint64) -> np.uint64:
    """The hash of a sequence of hashes and one more; the order counts."""
    return mix(sequence * STEP + following)
