from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from danlu.attention import reference, sdpa
from danlu.attention.contract import make_attention
from danlu.model.loss import losses
from danlu.model.network import Network
from danlu.optim.build import Optimizer, make_optimizer
from danlu.optim.clip import gradient_norm, scale_gradients
from danlu.optim.rates import Rates
from danlu.optim.settings import OptimizerSettings
from networks import make_network, packed_row, small_shape, stacked

CPU = torch.device("cpu")
BOTH = pytest.mark.parametrize("qk_norm", [False, True], ids=["plain", "qk_norm"])


def hidden_of(network: Network, batch: dict[str, np.ndarray]) -> torch.Tensor:
    inputs, positions = torch.from_numpy(batch["inputs"]), torch.from_numpy(batch["positions"])
    hidden: torch.Tensor = network(inputs, positions, make_attention(batch["documents"], CPU))
    return hidden


@BOTH
@pytest.mark.parametrize("lengths", [[5, 11, 1, 7], [24], [3, 3], [1] * 24], ids=str)
def test_packed_documents_are_each_document_alone(qk_norm: bool, lengths: list[int]) -> None:
    network, row = make_network(qk_norm=qk_norm), packed_row(lengths, 24)
    packed = hidden_of(network, row) @ network.head_weight.t()
    assert torch.isfinite(packed).all()
    start = 0
    for length in lengths:
        piece = {key: value[:, start : start + length] for key, value in row.items()}
        alone = hidden_of(network, piece) @ network.head_weight.t()
        torch.testing.assert_close(packed[:, start : start + length], alone, atol=1e-5, rtol=0)
        start += length


@BOTH
def test_another_document_changes_nothing_bitwise(qk_norm: bool) -> None:
    network, row = make_network(qk_norm=qk_norm), packed_row([5, 11, 7], 24)
    before = hidden_of(network, row)
    row["inputs"][0, 5:16] = (row["inputs"][0, 5:16] + 1) % network.shape.vocab_size
    after = hidden_of(network, row)
    same = row["documents"][0] != 1
    assert torch.equal(before[0, same], after[0, same])
    assert not torch.equal(before[0, ~same], after[0, ~same])


@BOTH
def test_fused_attention_is_the_reference(qk_norm: bool) -> None:
    batch = stacked([packed_row([5, 11, 7], 24), packed_row([20], 24, seed=1)])
    slow, fast = (make_network(attend, qk_norm=qk_norm) for attend in (reference.attend, sdpa.attend))
    torch.testing.assert_close(hidden_of(slow, batch), hidden_of(fast, batch), atol=1e-5, rtol=0)


def gradients(
    network: Network, batch: dict[str, np.ndarray], rows: int
) -> tuple[float, dict[str, torch.Tensor]]:
    """Loss and gradients of the batch, in micro-batches of `rows`."""
    network.zero_grad()
    target_tokens, total = int((batch["labels"] >= 0).sum()), 0.0
    for first in range(0, len(batch["inputs"]), rows):
        micro = {key: value[first : first + rows] for key, value in batch.items()}
        sums = losses(
            hidden_of(network, micro), network.head_weight, torch.from_numpy(micro["labels"]), 1e-4, 0.05
        )
        (sums.objective_sum / target_tokens).backward()
        total += float(sums.nll_sum) / target_tokens
    return total, {
        name: parameter.grad for name, parameter in network.named_parameters() if parameter.grad is not None
    }


@pytest.mark.parametrize("tied", [False, True], ids=["untied", "tied"])
def test_loss_and_gradients_do_not_depend_on_the_micro_batch(tied: bool) -> None:
    ragged = ([5, 11, 7], [24], [2], [9, 9])
    batch = stacked([packed_row(lengths, 24, seed) for seed, lengths in enumerate(ragged)])
    network = make_network(tie_embeddings=tied)
    whole_loss, whole = gradients(network, batch, 4)
    for rows in (1, 2):
        loss, parts = gradients(network, batch, rows)
        assert loss == pytest.approx(whole_loss, abs=1e-6)
        assert parts.keys() == whole.keys() == dict(network.named_parameters()).keys()
        for name, part in parts.items():
            torch.testing.assert_close(part, whole[name], atol=1e-7, rtol=1e-4)


def test_fp64_gradients_are_numerically_right() -> None:
    network = make_network(width=8, layers=1, heads=2, kv_heads=1, ffn_width=6, tie_embeddings=True).double()
    batch = packed_row([4, 3], 8)
    labels = torch.from_numpy(batch["labels"])

    def objective() -> torch.Tensor:
        return losses(hidden_of(network, batch), network.head_weight, labels, 0.01, 0.1).objective_sum

    objective().backward()
    for parameter in network.parameters():
        assert parameter.grad is not None
        direction = torch.cos(torch.arange(parameter.numel(), dtype=torch.float64)).view_as(parameter)
        values = []
        for step in (1e-5, -1e-5):
            with torch.no_grad():
                parameter += step * direction
                values.append(float(objective()))
                parameter -= step * direction
        slope = (values[0] - values[1]) / 2e-5
        assert slope == pytest.approx(float((parameter.grad * direction).sum()), rel=1e-6, abs=1e-8)


@pytest.fixture
def two_threads() -> Iterator[None]:
    """What a run on a small machine uses; the tests' one thread hides races."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def training(kind: str) -> tuple[Network, Optimizer]:
    network = make_network(width=64, layers=2, heads=2, kv_heads=1, ffn_width=96)
    settings, rates = OptimizerSettings.model_validate({"kind": kind}), Rates(3e-3, 1e-2, "test")
    named = dict(network.named_parameters())
    return network, make_optimizer(named, network.roles(), network.splits(), settings, rates)


def train(network: Network, optimizer: Optimizer, steps: range) -> list[float]:
    seen = []
    for step in steps:
        batch = stacked([packed_row([40, 23, 60], 128, seed=8 * step + row) for row in range(4)])
        optimizer.zero_grad()
        sums = losses(hidden_of(network, batch), network.head_weight, torch.from_numpy(batch["labels"]), 1e-4)
        (sums.objective_sum / 480).backward()
        scale_gradients(optimizer.parameters, float(gradient_norm(optimizer.parameters)), 1.0)
        optimizer.step(0.5)
        seen.append(float(sums.nll_sum))
    return seen


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("kind", ["adamw", "muon"])
def test_training_repeats_bitwise_also_over_a_resume(kind: str) -> None:
    network, optimizer = training(kind)
    losses_once = train(network, optimizer, range(6))
    again, its_optimizer = training(kind)
    losses_again = train(again, its_optimizer, range(3))
    weights = {name: tensor.clone() for name, tensor in again.state_dict().items()}
    state = {name: tensor.clone() for name, tensor in its_optimizer.state_tensors().items()}
    resumed, its_optimizer = training(kind)
    resumed.load_state_dict(weights)
    its_optimizer.load_state_tensors(state)
    losses_again += train(resumed, its_optimizer, range(3, 6))
    assert losses_again == losses_once
    assert losses_once[-1] < losses_once[0]
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, resumed.state_dict()[name]), name


def test_it_trains_after_an_evaluation_in_inference_mode() -> None:
    network, batch = make_network(), packed_row([5, 11, 7], 24)
    with torch.inference_mode():
        before = hidden_of(network, batch)
    after = hidden_of(network, batch)
    after.sum().backward()
    assert torch.equal(after.detach(), before)
    assert all(p.grad is not None for name, p in network.named_parameters() if name != "head.weight")


def test_weights_are_poison_until_they_are_filled() -> None:
    network = Network(small_shape(), sdpa.attend)
    assert all(parameter.isnan().all() for parameter in network.parameters())


def test_roles_and_splits_cover_the_parameters() -> None:
    network = make_network(tie_embeddings=False)
    roles, named = network.roles(), dict(network.named_parameters())
    assert roles.keys() == named.keys()
    assert {roles["embedding.weight"], roles["head.weight"]} == {"embedding", "head"}
    for name, rows in network.splits().items():
        assert roles[name] == "matrix"
        assert sum(rows) == len(named[name])
    assert make_network(tie_embeddings=True).roles().keys() == named.keys() - {"head.weight"}


def test_bf16_autocast_stays_near_fp32() -> None:
    network, row = make_network(), packed_row([5, 11, 7], 24)
    exact = hidden_of(network, row).detach()
    with torch.autocast("cpu", torch.bfloat16):
        near = hidden_of(network, row)
    assert float((near.detach().float() - exact).norm() / exact.norm()) < 0.03


# The compiler's own tracing of autograd functions trips over torch's own deprecation.
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
@pytest.mark.parametrize("qk_norm", [False, True], ids=["plain", "qk_norm"])
def test_the_compiler_traces_it_with_its_gradients(qk_norm: bool) -> None:
    network, batch = make_network(qk_norm=qk_norm), packed_row([5, 11, 7], 24)
    compiled = torch.compile(network, backend="aot_eager", fullgraph=True)
    inputs, positions = torch.from_numpy(batch["inputs"]), torch.from_numpy(batch["positions"])
    attention = make_attention(batch["documents"], CPU)
    results = []
    for forward in (network, compiled):
        network.zero_grad()
        hidden = forward(inputs, positions, attention)
        hidden.square().sum().backward()
        results.append([hidden.detach(), *(p.grad for p in network.parameters() if p.grad is not None)])
    assert len(results[0]) == len(list(network.parameters())) + 1
    for eager, traced in zip(*results, strict=True):
        torch.testing.assert_close(traced, eager, atol=1e-4, rtol=1e-4)
