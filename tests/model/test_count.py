from __future__ import annotations

import itertools

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from danlu.attention import reference
from danlu.attention.contract import Attention
from danlu.model.count import count_parameters, flops_per_token
from networks import VOCAB_SIZE, make_network, small_shape


@pytest.mark.parametrize(("tied", "qk_norm"), list(itertools.product([False, True], repeat=2)))
def test_equals_the_network(tied: bool, qk_norm: bool) -> None:
    network = make_network(tie_embeddings=tied, qk_norm=qk_norm)
    counts = count_parameters(network.shape)
    assert counts.total == sum(parameter.numel() for parameter in network.parameters())
    assert counts.non_embedding == counts.total - counts.embedding - counts.head
    by_role = dict.fromkeys(("embedding", "head", "matrix", "gain"), 0)
    for name, role in network.roles().items():
        by_role[role] += network.get_parameter(name).numel()
    assert by_role == {
        "embedding": counts.embedding,
        "head": counts.head,
        "matrix": counts.matrices,
        "gain": counts.gains,
    }


def test_flops_are_those_of_the_matmuls() -> None:
    """torch counts the reference's full T x T products; ours are the causal half."""
    length = 9
    network, positions = make_network(reference.attend), torch.arange(length)[None]
    with FlopCounterMode(display=False) as counter:
        hidden = network(positions, positions, Attention())
        (hidden @ network.head_weight.t()).sum().backward()
    shape = small_shape()
    full = 12 * shape.layers * shape.width * length
    causal = full * (length + 1) / (2 * length)
    assert counter.get_total_flops() / length == pytest.approx(
        flops_per_token(shape, length) - causal + full, rel=0.01
    )
    assert shape.vocab_size == VOCAB_SIZE
