"""All ways to cut strings into pieces: expected counts, best cuts, and what each piece is worth (numba kernels).

Guarantees: sums are taken in one order, so that results are the same bit by bit. Costs: about 50 ns for each pair of a
position and a piece that starts there; the trie takes 24 bytes a slot, half of them empty.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]

Trie = tuple[Ints, Ints, Floats]
"""Keys (slots,) node * 2^21 + character or -1; values (slots, 2) child node and piece or -1; log probabilities."""

_KEY_BITS = 21
HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""2^64 by the golden ratio (Knuth, The Art of Computer Programming 3, section 6.4)."""


@nb.njit(cache=True, nogil=True)
def _find(keys: Ints, key: int) -> int:
    """The slot of a key, or the empty one where it would be."""
    slot = np.int64((np.uint64(key) * HASH_MULTIPLIER) >> np.uint64(32)) & (len(keys) - 1)
    while keys[slot] >= 0 and keys[slot] != key:
        slot = (slot + 1) & (len(keys) - 1)
    return int(slot)


@nb.njit(cache=True, nogil=True)
def insert_all(codes: Codes, starts: Ints, size: int) -> tuple[Ints, Ints, int]:
    """Keys and values of a trie with `size` (a power of two) slots, and its nodes; -1 nodes where it is too full."""
    keys = np.full(size, -1, dtype=np.int64)
    values = np.full((size, 2), -1, dtype=np.int64)
    nodes = 1
    for piece in range(len(starts) - 1):
        node, slot = 0, 0
        for place in range(starts[piece], starts[piece + 1]):
            key = (node << _KEY_BITS) | codes[place]
            slot = _find(keys, key)
            if keys[slot] < 0:
                if 2 * nodes > size:
                    return keys, values, -1
                keys[slot], values[slot, 0] = key, nodes
                nodes += 1
            node = values[slot, 0]
        values[slot, 1] = piece
    return keys, values, nodes


@nb.njit(cache=True, nogil=True)
def _log_add(a: float, b: float) -> float:
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))


@nb.njit(cache=True, nogil=True)
def expectation(
    codes: Codes, starts: Ints, counts: Floats, keys: Ints, values: Ints, scores: Floats
) -> tuple[Floats, float]:
    """Expected count of each piece (pieces,) and the log likelihood: forward and backward sums over every string."""
    expected = np.zeros(len(scores))
    longest = int(np.max(starts[1:] - starts[:-1])) if len(starts) > 1 else 0
    forward, backward = np.empty(longest + 1), np.empty(longest + 1)
    likelihood = 0.0
    for string in range(len(starts) - 1):
        begin, size = starts[string], starts[string + 1] - starts[string]
        forward[: size + 1] = -np.inf
        forward[0] = 0.0
        for i in range(size):
            node = 0
            for j in range(i, size):
                slot = _find(keys, (node << _KEY_BITS) | codes[begin + j])
                if keys[slot] < 0:
                    break
                node = values[slot, 0]
                if values[slot, 1] >= 0:
                    forward[j + 1] = _log_add(forward[j + 1], forward[i] + scores[values[slot, 1]])
        total = forward[size]
        likelihood += counts[string] * total
        backward[size] = 0.0
        for i in range(size - 1, -1, -1):
            node = 0
            backward[i] = -np.inf
            for j in range(i, size):
                slot = _find(keys, (node << _KEY_BITS) | codes[begin + j])
                if keys[slot] < 0:
                    break
                node = values[slot, 0]
                piece = values[slot, 1]
                if piece >= 0:
                    rest = backward[j + 1] + scores[piece]
                    expected[piece] += counts[string] * np.exp(forward[i] + rest - total)
                    backward[i] = _log_add(backward[i], rest)
    return expected, likelihood


@nb.njit(cache=True, nogil=True)
def _cut(
    codes: Codes,
    begin: int,
    size: int,
    keys: Ints,
    values: Ints,
    scores: Floats,
    best: Floats,
    back: Ints,
    longest: int,
) -> None:
    """The best cut of one string with pieces of at most `longest` characters: scores and last pieces by end."""
    best[: size + 1] = -np.inf
    best[0] = 0.0
    for i in range(size):
        node = 0
        for j in range(i, min(size, i + longest)):
            slot = _find(keys, (node << _KEY_BITS) | codes[begin + j])
            if keys[slot] < 0:
                break
            node = values[slot, 0]
            piece = values[slot, 1]
            if piece >= 0 and best[i] + scores[piece] > best[j + 1]:
                best[j + 1] = best[i] + scores[piece]
                back[j + 1, 0], back[j + 1, 1] = i, piece


@nb.njit(cache=True, nogil=True)
def viterbi_counts(
    codes: Codes, starts: Ints, counts: Floats, keys: Ints, values: Ints, scores: Floats
) -> Floats:
    """How often each piece is used (pieces,) when every string is cut in the best way."""
    used = np.zeros(len(scores))
    longest = int(np.max(starts[1:] - starts[:-1])) if len(starts) > 1 else 0
    best, back = np.empty(longest + 1), np.empty((longest + 1, 2), dtype=np.int64)
    for string in range(len(starts) - 1):
        size = starts[string + 1] - starts[string]
        _cut(codes, starts[string], size, keys, values, scores, best, back, size)
        end = size
        while end > 0:
            used[back[end, 1]] += counts[string]
            end = back[end, 0]
    return used


@nb.njit(cache=True, nogil=True)
def losses(codes: Codes, starts: Ints, keys: Ints, values: Ints, scores: Floats, used: Floats) -> Floats:
    """What the log likelihood would lose without each piece (pieces,), by SentencePiece's estimate.

    -inf for pieces that no best cut uses; their parts are at least as good.
    """
    loss = np.full(len(scores), -np.inf)
    longest = int(np.max(starts[1:] - starts[:-1])) if len(starts) > 1 else 0
    best, back = np.empty(longest + 1), np.empty((longest + 1, 2), dtype=np.int64)
    total = used.sum()
    for piece in range(len(scores)):
        size = starts[piece + 1] - starts[piece]
        if size < 2 or used[piece] == 0.0:
            continue
        _cut(codes, starts[piece], size, keys, values, scores, best, back, size - 1)
        if best[size] >= scores[piece]:
            continue
        parts, end, log_parts = 0, size, 0.0
        while end > 0:
            log_parts += np.log(used[back[end, 1]] + used[piece])
            parts += 1
            end = back[end, 0]
        without = log_parts - parts * np.log(total + used[piece] * (parts - 1))
        loss[piece] = used[piece] / total * (np.log(used[piece]) - np.log(total) - without)
    return loss
