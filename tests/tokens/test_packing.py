"""Every packing equals the slow obvious version; no token is lost; what is counted of it is right."""

from collections import defaultdict, deque

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from danlu.tokens.packing import KINDS, pack, packing_stats


def bins(packing):
    pieces = list(
        zip(packing.documents.tolist(), packing.starts.tolist(), packing.lengths.tolist(), strict=True)
    )
    return [pieces[a:b] for a, b in zip(packing.offsets[:-1], packing.offsets[1:], strict=True)]


def best_fit(lengths, size):
    """Longest piece first, into the sample with the least room that fits, the earliest among equals."""
    pieces = [(d, s, min(size, n - s)) for d, n in enumerate(lengths) for s in range(0, n, size)]
    waiting, found = defaultdict(deque), []
    for piece in sorted(pieces, key=lambda piece: -piece[2]):
        room = min((room for room in waiting if room >= piece[2] and waiting[room]), default=None)
        if room is None:
            number, room = len(found), size
            found.append([])
        else:
            number = waiting[room].popleft()
        found[number].append(piece)
        if room > piece[2]:
            waiting[room - piece[2]].append(number)
    return found


def chunk(lengths, size):
    """Token by token."""
    stream = [(d, i) for d, n in enumerate(lengths) for i in range(n)]
    found = []
    for first in range(0, len(stream), size):
        pieces = []
        for document, place in stream[first : first + size]:
            if pieces and pieces[-1][0] == document:
                pieces[-1] = (document, pieces[-1][1], pieces[-1][2] + 1)
            else:
                pieces.append((document, place, 1))
        found.append(pieces)
    return found


def greedy(lengths, size):
    """In their order, into the sample being filled or else into the next."""
    found = []
    for document, length in enumerate(lengths):
        for start in range(0, length, size):
            piece = (document, start, min(size, length - start))
            if found and sum(each[2] for each in found[-1]) + piece[2] <= size:
                found[-1].append(piece)
            else:
                found.append([piece])
    return found


def alone(lengths, size):
    """A sample for every piece."""
    return [[(d, s, min(size, n - s))] for d, n in enumerate(lengths) for s in range(0, n, size)]


REFERENCES = {"best_fit": best_fit, "chunk": chunk, "greedy": greedy, "none": alone}


@given(lengths=st.lists(st.integers(0, 40), max_size=60), size=st.integers(1, 17))
@example(lengths=[], size=4)
@example(lengths=[0, 0], size=1)
@example(lengths=[100_000], size=1)
@example(lengths=[0, 5, 0, 0, 3, 0], size=8)
@example(lengths=[8, 8, 16, 1], size=8)
@pytest.mark.parametrize("kind", KINDS)
def test_equals_reference(kind, lengths, size):
    packing = pack(np.array(lengths, dtype=np.int64), size, kind)
    assert bins(packing) == REFERENCES[kind](lengths, size)
    arrays = (packing.documents, packing.starts, packing.lengths, packing.offsets)
    assert all(array.dtype == np.int64 for array in arrays)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [255, 256, 65_535, 65_536, 70_001])
def test_equals_reference_where_the_sort_keys_grow(kind, size):
    lengths = np.random.default_rng(size).integers(0, 3 * size, 120)
    assert bins(pack(lengths, size, kind)) == {**REFERENCES, "chunk": chunk_by_cuts}[kind](
        lengths.tolist(), size
    )


def chunk_by_cuts(lengths, size):
    """Document by document, each cut where a sample ends: what `chunk` does, for long ones."""
    found, room = [], 0
    for document, length in enumerate(lengths):
        start = 0
        while start < length:
            if room == 0:
                found.append([])
                room = size
            taken = min(room, length - start)
            found[-1].append((document, start, taken))
            start += taken
            room -= taken
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [7, 64, 1023])
def test_every_token_exactly_once(kind, size):
    lengths = np.random.default_rng(size).integers(2, 3000, 50)
    packing = pack(lengths, size, kind)
    seen = np.concatenate(
        [
            np.arange(s, s + n) + d * 10_000
            for d, s, n in (piece for sample in bins(packing) for piece in sample)
        ]
    )
    assert len(seen) == lengths.sum() == len(np.unique(seen))
    assert max(sum(piece[2] for piece in sample) for sample in bins(packing)) <= size


@pytest.mark.parametrize("kind", KINDS)
def test_only_documents_longer_than_a_sample_are_cut(kind):
    lengths = np.array([3, 20, 8, 0, 5, 16, 1, 9])
    stats = packing_stats(pack(lengths, 8, kind), lengths)
    assert (stats.documents, stats.tokens, stats.lower_bound, stats.dropped) == (7, 62, 8, 0)
    cut, samples = {"best_fit": (3, 8), "chunk": (5, 8), "greedy": (3, 11), "none": (3, 11)}[kind]
    assert (stats.documents_cut, stats.samples) == (cut, samples)
    assert stats.padding == 8 * samples - 62
    assert stats.efficiency == 62 / (8 * samples)


def test_greedy_keeps_the_order_of_the_documents():
    lengths = np.random.default_rng(4).integers(0, 90, 200)
    packing = pack(lengths, 32, "greedy")
    assert packing.documents.tolist() == sorted(packing.documents.tolist())
