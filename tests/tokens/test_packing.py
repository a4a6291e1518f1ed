"""Every packing equals the slow obvious version and published results; no token is lost, no document sees another."""

import json
from collections import defaultdict, deque
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from danlu.attention.contract import document_mask, make_attention
from danlu.tokens.packing import KINDS, pack, packing_stats
from networks import VOCAB_SIZE, make_network

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
    assert packing.samples == case.get("trl_bins", packing.samples) <= case.get("ffd_bins", packing.samples)


@pytest.mark.parametrize("name", [name for name in CASES if "concat_trunc" in GOLDEN[name]])
def test_golden_chunk(name):
    case = GOLDEN[name]
    # The golden figures add an end-of-text; the paper's, which count no chunks, do not.
    lengths = np.array(case["lengths"], dtype=np.int64) + ("concat_chunks" in case)
    stats = packing_stats(packing := pack(lengths, case["L"], "chunk"), lengths)
    assert packing.samples == case.get("concat_chunks", stats.lower_bound)
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


def test_golden_boundaries_of_documents():
    golden, packing = GOLDEN["doc_meta"], pack(np.array([3, 2, 1]), 8, "best_fit")
    assert np.append(0, np.cumsum(packing.lengths)).tolist() == golden["cu_seqlens"]
    documents = torch.tensor([golden["doc_ids"]])
    mask = document_mask(documents)[0, 0].int()
    real = documents[0] >= 0
    # In the golden mask padding sees nothing; in ours itself, so that no row of the attention is empty.
    assert mask[real].tolist() == np.array(golden["mask"])[real.numpy()].tolist()
    assert not mask[real][:, ~real].any()
    assert not mask[~real][:, real].any()


LENGTHS = [5, 11, 3, 24, 60, 2, 9, 16, 31, 7, 2, 40, 13]


def logits_of(network, batch):
    inputs, positions = torch.from_numpy(batch.inputs), torch.from_numpy(batch.positions)
    attention = make_attention(batch.documents, torch.device("cpu"))
    with torch.inference_mode():
        return network(inputs, positions, attention) @ network.head_weight.t()


def epoch(make_batches, root, kind, change=None, **settings):
    """All samples of one epoch with ids that a small network knows; `change` moves those of one document."""
    batches = make_batches({"a": LENGTHS}, 24, root=root, packing=kind, **settings)
    batch = batches.batch(0, batches.order.samples_of("a"))
    batch.inputs[:] %= VOCAB_SIZE
    owner = np.full(batch.inputs.shape, -1)
    for row, sample in enumerate(batch.samples):
        column = 0
        for piece in sample.pieces:
            owner[row, column : column + piece.length] = piece.document
            column += piece.length
    if change is not None:
        batch.inputs[owner == change] = (batch.inputs[owner == change] + 1) % VOCAB_SIZE
    return batch, owner


@pytest.mark.parametrize("kind", KINDS)
def test_packed_logits_are_each_piece_alone(kind, make_batches, tmp_path):
    network = make_network()
    batch, _ = epoch(make_batches, tmp_path, kind)
    packed, seen = logits_of(network, batch), 0
    for row, sample in enumerate(batch.samples):
        column = 0
        for piece in sample.pieces:
            place = slice(column, column + piece.length)
            inputs = torch.from_numpy(batch.inputs[row : row + 1, place])
            attention = make_attention(np.zeros((1, piece.length), dtype=np.int64), torch.device("cpu"))
            with torch.inference_mode():
                hidden = network(inputs, torch.arange(piece.length)[None], attention)
                alone = (hidden @ network.head_weight.t())[0]
            torch.testing.assert_close(packed[row, place], alone, atol=1e-5, rtol=0)
            column += piece.length
            seen += piece.length
    assert seen == sum(LENGTHS)


@pytest.mark.parametrize("kind", KINDS)
def test_another_document_changes_nothing_bitwise(kind, make_batches, tmp_path):
    network = make_network()
    batch, owner = epoch(make_batches, tmp_path, kind)
    before = logits_of(network, batch)
    for document in range(len(LENGTHS)):
        after = logits_of(network, epoch(make_batches, tmp_path, kind, document)[0])
        others = torch.from_numpy((owner != document) & (owner >= 0))
        assert torch.equal(before[others], after[others])
        assert not torch.equal(
            before[torch.from_numpy(owner == document)], after[torch.from_numpy(owner == document)]
        )


@pytest.mark.parametrize("kind", ["best_fit", "chunk", "greedy"])
def test_without_a_mask_a_document_sees_those_before_it(kind, make_batches, tmp_path):
    network, settings = make_network(), {"document_mask": False, "reset_positions": False}
    batch, owner = epoch(make_batches, tmp_path, kind, **settings)
    changed = next(sample.pieces[0].document for sample in batch.samples if len(sample.pieces) > 1)
    after = logits_of(network, epoch(make_batches, tmp_path, kind, changed, **settings)[0])
    others = torch.from_numpy((owner != changed) & (owner >= 0))
    assert not torch.equal(logits_of(network, batch)[others], after[others])
