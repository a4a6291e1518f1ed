"""Where randomness comes from: keyed hashes and Philox, never a global generator, a rank or a worker.

The same key gives the same number on every machine and in every process, so that a batch is a pure function of
(recipe, seed, step). Costs: one vectorised pass per hash.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import xxhash

_GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
UInt64s = npt.NDArray[np.uint64]


def hash_text(text: str | bytes, seed: int = 0) -> int:
    """The 64-bit xxh3 hash of a text: stable across versions and machines."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return xxhash.xxh3_64_intdigest(data, seed=seed)


def mix(values: UInt64s) -> UInt64s:
    """The finaliser of splitmix64 (Steele et al. 2014): a bijection of 64-bit integers that looks random."""
    with np.errstate(over="ignore"):
        z = values + _GOLDEN_GAMMA
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def hash_key(*parts: int | str) -> int:
    """One 64-bit key out of several integers and names, order-sensitive."""
    key = np.zeros(1, dtype=np.uint64)
    for part in parts:
        number = hash_text(part) if isinstance(part, str) else int(part)
        key = mix(key ^ np.uint64(number & 0xFFFFFFFFFFFFFFFF))
    return int(key[0])


def hash_range(key: int, start: int, stop: int) -> UInt64s:
    """Hashes of start..stop-1 under a key: what an epoch is sorted by."""
    return mix(np.arange(start, stop, dtype=np.uint64) ^ mix(np.array([key], dtype=np.uint64)))


def generator(*parts: int | str) -> np.random.Generator:
    """A Philox generator for a key, e.g. (seed, "objective", sample number)."""
    return np.random.Generator(np.random.Philox(key=hash_key(*parts)))
