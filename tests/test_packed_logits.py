"""A document in a packed row is computed as if it stood alone: logits, loss, gradients; and no other one touches it.

For every packing with document masks, odd sizes, both attention kernels, and positions that restart or count on: the
angles of RoPE are relative, so that where a document begins in a row changes rounding alone. fp32, to 1e-5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from danlu.attention import reference, sdpa
from danlu.attention.contract import make_attention
from danlu.model.loss import losses, token_nll
from danlu.objective.causal import Layout, Row, fill
from danlu.records import IGNORE_INDEX, PAD_DOCUMENT
from danlu.tokens.packing import KINDS, pack
from networks import VOCAB_SIZE, make_network

CPU = torch.device("cpu")
KERNELS = {"sdpa": sdpa.attend, "reference": reference.attend}
LENGTHS = [5, 11, 3, 24, 60, 2, 9, 16, 31, 7, 2, 40, 13, 1, 23]
CHANGED = [0, 4, 8, 10, 13, 14]
"""The first document and the last, long ones in several rows, short ones among others, one that fills a row."""
SIZE = 23
"""Odd, so that no kernel's tile ends where a row does; the longest document takes three rows."""


@dataclass
class Rows:
    """Packed rows (B, T), and of each token the document, its place in it, and the piece that it is in."""

    inputs: Tensor
    labels: Tensor
    positions: Tensor
    documents: np.ndarray
    owner: np.ndarray
    place: np.ndarray
    pieces: list[tuple[int, slice, int, int]]
    """Row, columns, document, first token."""


def texts_of(lengths, seed=3):
    generator = np.random.default_rng(seed)
    return [generator.integers(0, VOCAB_SIZE, length) for length in lengths]


def rows_of(texts, size, kind, reset=True, mask=True):
    packing = pack(np.array([len(text) for text in texts]), size, kind)
    shape = (packing.samples, size)
    arrays = [np.empty(shape, dtype=np.int64) for _ in range(4)]
    owner, place = np.full(shape, PAD_DOCUMENT), np.zeros(shape, dtype=np.int64)
    pieces = []
    for row in range(packing.samples):
        written, column = [], 0
        for piece in range(packing.offsets[row], packing.offsets[row + 1]):
            document, start, length = (
                int(part[piece]) for part in (packing.documents, packing.starts, packing.lengths)
            )
            written.append((texts[document][start : start + length + 1], length))
            columns = slice(column, column + length)
            owner[row, columns], place[row, columns] = document, np.arange(start, start + length)
            pieces.append((row, columns, document, start))
            column += length
        fill(Row(*(array[row] for array in arrays)), written, Layout(7, mask, reset))
    inputs, labels, positions = map(torch.from_numpy, arrays[:3])
    return Rows(inputs, labels, positions, arrays[3], owner, place, pieces)


def hidden_of(network, rows):
    return network(rows.inputs, rows.positions, make_attention(rows.documents, CPU))


def logits_of(network, rows):
    with torch.inference_mode():
        return hidden_of(network, rows) @ network.head_weight.t()


def alone(network, tokens):
    """The hidden states (1, T, W) of tokens that are a row of their own."""
    length = len(tokens)
    attention = make_attention(np.zeros((1, length), dtype=np.int64), CPU)
    return network(torch.from_numpy(tokens)[None], torch.arange(length)[None], attention)


def check_logits(network, texts, size, kind):
    """Whether positions restart or count on."""
    packings = [rows_of(texts, size, kind, reset) for reset in (True, False)]
    packed, seen = [logits_of(network, rows) for rows in packings], 0
    for row, columns, document, start in packings[0].pieces:
        length = columns.stop - columns.start
        with torch.inference_mode():
            expected = alone(network, texts[document][start : start + length]) @ network.head_weight.t()
        for logits in packed:
            torch.testing.assert_close(logits[row, columns], expected[0], atol=1e-5, rtol=0)
        seen += length
    assert seen == sum(map(len, texts))
    assert all(torch.isfinite(logits).all() for logits in packed)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("size", "lengths"), [(1, [5, 1, 3]), (23, LENGTHS), (97, LENGTHS)])
@pytest.mark.parametrize("kind", KINDS)
def test_logits_are_those_of_the_piece_alone(kind, size, lengths, kernel):
    check_logits(make_network(KERNELS[kernel]), texts_of(lengths), size, kind)


@settings(max_examples=10)
@given(lengths=st.lists(st.integers(1, 30), min_size=1, max_size=9), size=st.integers(1, 33))
@pytest.mark.parametrize("kind", KINDS)
def test_for_any_lengths(kind, lengths, size):
    check_logits(make_network(layers=1), texts_of(lengths), size, kind)


@pytest.mark.parametrize(
    "settings", [{"qk_norm": True}, {"heads": 2, "kv_heads": 1}, {"tie_embeddings": False}]
)
def test_for_other_networks(settings):
    check_logits(make_network(**settings), texts_of(LENGTHS), SIZE, "best_fit")


@pytest.mark.parametrize("reset", [True, False], ids=["restart", "count_on"])
@pytest.mark.parametrize("kind", KINDS)
def test_loss_and_gradients_are_the_sum_of_the_pieces_alone(kind, reset):
    texts, network = texts_of(LENGTHS), make_network()
    rows = rows_of(texts, SIZE, kind, reset)
    packed = losses(hidden_of(network, rows), network.head_weight, rows.labels, z_weight=1e-4)
    packed.objective_sum.backward()
    gradients = {name: parameter.grad for name, parameter in network.named_parameters()}
    network.zero_grad(set_to_none=True)
    nll, objective, targets = 0.0, 0.0, 0
    for _, columns, document, start in rows.pieces:
        length = columns.stop - columns.start
        following = texts[document][start + 1 : start + length + 1]
        labels = np.full(length, IGNORE_INDEX)
        labels[: len(following)] = following
        sums = losses(
            alone(network, texts[document][start : start + length]),
            network.head_weight,
            torch.from_numpy(labels)[None],
            z_weight=1e-4,
        )
        sums.objective_sum.backward()
        nll += float(sums.nll_sum)
        objective += float(sums.objective_sum.detach())
        targets += len(following)
    # Every token but a document's first is predicted once, wherever it was cut.
    assert targets == sum(LENGTHS) - len(LENGTHS) == int((rows.labels != IGNORE_INDEX).sum())
    assert float(packed.nll_sum) == pytest.approx(nll, rel=1e-5)
    assert float(packed.objective_sum.detach()) == pytest.approx(objective, rel=1e-5)
    for name, parameter in network.named_parameters():
        scale = float(gradients[name].abs().max())
        torch.testing.assert_close(gradients[name], parameter.grad, atol=1e-5 * max(scale, 1.0), rtol=0)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("reset", [True, False], ids=["restart", "count_on"])
@pytest.mark.parametrize("kind", KINDS)
def test_another_document_changes_no_bit(kind, reset, kernel):
    network, texts = make_network(KERNELS[kernel]), texts_of(LENGTHS)
    before = rows_of(texts, SIZE, kind, reset)
    logits = logits_of(network, before)
    nll = token_nll(hidden_of(network, before).detach(), network.head_weight.detach(), before.labels)
    for document in CHANGED:
        other = [(text + 1) % VOCAB_SIZE if i == document else text for i, text in enumerate(texts)]
        after = rows_of(other, SIZE, kind, reset)
        changed = logits_of(network, after)
        others = torch.from_numpy((before.owner != document) & (before.owner != PAD_DOCUMENT))
        assert torch.equal(logits[others], changed[others])
        own = torch.from_numpy(before.owner == document)
        assert not torch.equal(logits[own], changed[own])
        again = token_nll(hidden_of(network, after).detach(), network.head_weight.detach(), after.labels)
        assert torch.equal(nll[others], again[others])


@pytest.mark.parametrize("kind", KINDS)
def test_another_document_moves_no_gradient_of_the_inputs(kind):
    """Of the loss of one document, the inputs of all others have the gradient zero, exactly."""
    network, texts = make_network(), texts_of(LENGTHS)
    rows = rows_of(texts, SIZE, kind)
    embedded = torch.nn.functional.embedding(rows.inputs, network.embedding.weight).detach().requires_grad_()
    attention, turns = (
        make_attention(rows.documents, CPU),
        network._table(SIZE, embedded)[rows.positions].unsqueeze(2),
    )
    x = embedded
    for layer in network.layers:
        x = layer(x, turns, attention)
    hidden = network.final_norm(x)
    for document in CHANGED[:-2]:
        own = torch.from_numpy(rows.owner == document)
        labels = torch.where(own, rows.labels, IGNORE_INDEX)
        sums = losses(hidden, network.head_weight.detach(), labels)
        (gradient,) = torch.autograd.grad(sums.objective_sum, embedded, retain_graph=True)
        assert gradient[own].abs().max() > 0
        assert not gradient[~own].any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_later_token_changes_none_before_it(kind):
    network, texts = make_network(), texts_of(LENGTHS)
    before = rows_of(texts, SIZE, kind)
    changed = [np.append(text[:-1], (text[-1:] + 1) % VOCAB_SIZE) for text in texts]
    after = rows_of(changed, SIZE, kind)
    last = np.array([len(text) for text in texts])[before.owner] - 1 == before.place
    earlier = torch.from_numpy(~last & (before.owner != PAD_DOCUMENT))
    assert torch.equal(logits_of(network, before)[earlier], logits_of(network, after)[earlier])


def test_without_a_mask_a_document_sees_those_before_it():
    """What the masks are there for."""
    network, texts = make_network(), texts_of([5, 11, 3])
    before = rows_of(texts, SIZE, "greedy", reset=False, mask=False)
    after = rows_of([(texts[0] + 1) % VOCAB_SIZE, *texts[1:]], SIZE, "greedy", reset=False, mask=False)
    others = torch.from_numpy(before.owner > 0)
    assert not torch.equal(logits_of(network, before)[others], logits_of(network, after)[others])
