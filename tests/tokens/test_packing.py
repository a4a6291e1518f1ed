"""Best-fit decreasing equals the slow obvious version and published results; no token is lost."""

import json
from collections import defaultdict, deque
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from danlu.tokens.packing import KINDS, pack, packing_stats

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "packing.json").read_text())
CASES = [name for name in GOLDEN if "bfd" in GOLDEN[name]]


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


@given(lengths=st.lists(st.integers(0, 40), max_size=60), size=st.integers(1, 17))
@example(lengths=[], size=4)
@example(lengths=[0, 0], size=1)
@example(lengths=[100_000], size=1)
@pytest.mark.parametrize(("kind", "reference"), [("best_fit", best_fit), ("chunk", chunk)])
def test_equals_reference(kind, reference, lengths, size):
    packing = pack(np.array(lengths, dtype=np.int64), size, kind)
    assert bins(packing) == reference(lengths, size)
    assert all(array.dtype == np.int64 for array in (packing.documents, packing.starts, packing.lengths))


@pytest.mark.parametrize("name", CASES)
def test_golden(name):
    case = GOLDEN[name]
    lengths = np.array(case["lengths"], dtype=np.int64)
    packing = pack(lengths, case["L"], "best_fit")
    if case["bfd"] is not None:
        assert bins(packing) == [[tuple(piece) for piece in sample] for sample in case["bfd"]]
    stats, wanted = packing_stats(packing, lengths), case["bfd_stats"]
    assert stats.efficiency == wanted["efficiency"]
    assert (
        stats.samples,
        stats.lower_bound,
        stats.tokens,
        stats.padding,
        stats.documents_cut,
        stats.pieces,
    ) == (
        wanted["bins"],
        wanted["lower_bound"],
        wanted["tokens"],
        wanted["padding"],
        wanted["docs_truncated"],
        wanted["pieces"],
    )
    assert (stats.documents, stats.dropped) == (wanted["docs"], 0)


@pytest.mark.parametrize("name", [name for name in CASES if "concat_trunc" in GOLDEN[name]])
def test_golden_chunk(name):
    case = GOLDEN[name]
    lengths = np.array(case["lengths"], dtype=np.int64) + 1  # the golden figures add an end-of-text
    stats = packing_stats(packing := pack(lengths, case["L"], "chunk"), lengths)
    assert packing.samples == case["concat_chunks"]
    assert (stats.documents_cut, stats.pieces) == (
        case["concat_trunc"]["docs_truncated"],
        case["concat_trunc"]["pieces"],
    )


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
