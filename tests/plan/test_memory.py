"""The memory estimate against the measured peak of two real training steps."""

from dataclasses import replace
from itertools import accumulate

import numpy as np
import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from danlu.attention.contract import make_attention
from danlu.attention.sdpa import attend
from danlu.model.init import initialise
from danlu.model.loss import losses
from danlu.model.network import Network
from danlu.model.shape import Shape
from danlu.optim.build import make_optimizer
from danlu.optim.rates import Rates
from danlu.optim.settings import OptimizerSettings
from danlu.plan.memory import StepShape, estimate_memory

SHAPE = Shape(
    vocab_size=512,
    width=128,
    layers=3,
    heads=4,
    kv_heads=2,
    head_width=32,
    ffn_width=352,
    tie_embeddings=True,
    qk_norm=True,
    norm_epsilon=1e-5,
    rope_theta=1e4,
)
STEP = StepShape(sequence_length=128, micro_batch=4, accumulates=False, optimizer="adamw")


def documents_of(step):
    size = (step.micro_batch, step.sequence_length)
    if not step.document_mask:
        return np.zeros(size, dtype=np.int64)
    return np.broadcast_to(np.arange(size[1]) // 50, size)


def measured_peak(shape, step):
    """Bytes of all tensors alive at the worst moment of two steps: what was there before, and the allocator's log."""
    network = Network(shape, attend)
    initialise(network, seed=1)
    optimizer = make_optimizer(
        dict(network.named_parameters()),
        network.roles(),
        network.splits(),
        OptimizerSettings(kind=step.optimizer),
        Rates(1e-3, 1e-3, ""),
    )
    ids = torch.zeros(step.micro_batch, step.sequence_length, dtype=torch.int64)
    positions = torch.arange(step.sequence_length).expand_as(ids)
    before = sum(tensor.nbytes for tensor in (*network.parameters(), *optimizer.state_tensors().values()))
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as log:
        for _ in range(2):
            optimizer.zero_grad()
            for _ in range(2 if step.accumulates else 1):
                attention = make_attention(documents_of(step), ids.device)
                with torch.autocast("cpu", torch.bfloat16, enabled=step.activation_bytes == 2):
                    sums = losses(network(ids, positions, attention), network.head_weight, ids, z_weight=1e-4)
                sums.objective_sum.backward()
            optimizer.step(1.0)
    events = [event for event in log.profiler.kineto_results.events() if event.name() == "[memory]"]
    changes = [event.nbytes() for event in sorted(events, key=lambda event: event.start_ns())]
    return before + max(accumulate(changes))


@pytest.mark.parametrize(
    ("shape", "step"),
    [
        ({}, {}),
        ({}, {"document_mask": False}),
        ({}, {"accumulates": True, "micro_batch": 5, "sequence_length": 97}),
        ({}, {"activation_bytes": 2}),
        ({"qk_norm": False}, {"accumulates": True}),
        ({"qk_norm": False, "kv_heads": 4}, {"document_mask": False, "activation_bytes": 2}),
        ({"vocab_size": 8192}, {"micro_batch": 2, "sequence_length": 64}),
        ({"vocab_size": 4096, "tie_embeddings": False}, {"sequence_length": 256, "micro_batch": 6}),
        (
            {"layers": 6, "width": 192, "head_width": 48, "ffn_width": 512},
            {"micro_batch": 1, "sequence_length": 32},
        ),
        ({"layers": 6}, {"optimizer": "muon", "micro_batch": 1, "sequence_length": 32}),
    ],
)
def test_the_estimate_is_within_15_percent_of_the_measured_peak(shape, step):
    shape, step = replace(SHAPE, **shape), replace(STEP, **step)
    estimate, peak = estimate_memory(shape, step), measured_peak(shape, step)
    assert 0.85 < estimate.total / peak < 1.15, (estimate.total / peak, estimate)


def test_more_sequences_need_more_and_bf16_needs_less():
    one, four = (estimate_memory(SHAPE, replace(STEP, micro_batch=count)) for count in (1, 4))
    assert four.activations == 4 * one.activations
    assert four.total > one.total
    assert estimate_memory(SHAPE, replace(STEP, activation_bytes=2)).activations < four.activations
