from __future__ import annotations

import pytest
import torch
from torch import nn

from danlu.errors import MismatchError
from danlu.optim.build import Optimizer, make_optimizer
from danlu.optim.rates import Rates
from danlu.optim.settings import OptimizerSettings
from networks import det, golden, make_network


def optimizer_of(kind: str, seed: int = 1) -> tuple[nn.Module, Optimizer]:
    network = make_network(seed=seed)
    settings = OptimizerSettings.model_validate({"kind": kind})
    named = dict(network.named_parameters())
    return network, make_optimizer(
        named, network.roles(), network.splits(), settings, Rates(1e-3, 1e-2, "test")
    )


def test_golden_adamw() -> None:
    case, coupled = (golden("optim")["optimizers"][name] for name in ("adamw_llm", "adam_l2"))
    named = {
        name: nn.Parameter(det(*entry["shape"], scale=0.5).float()) for name, entry in case["fp64"].items()
    }
    first = {name: parameter.detach().clone() for name, parameter in named.items()}
    settings, rates = OptimizerSettings(weight_decay=0.1), Rates(0.02, 0.02, "test")
    optimizer = make_optimizer(named, dict.fromkeys(named, "matrix"), {}, settings, rates)
    for step in range(1, 21):
        for name, parameter in named.items():
            k = torch.arange(parameter.numel(), dtype=torch.float64)
            wave = 0.1 * torch.cos(0.9 * k + 0.5 * step) * (1 + 0.2 * (k % 5))
            parameter.grad = (0.3 * first[name] + wave.view_as(parameter)).float()
        optimizer.step(0.5)  # the golden rate is 0.01
        for name, parameter in named.items():
            expected = case["fp64"][name]["after"].get(str(step))
            if expected:
                values = parameter.detach().flatten().tolist()
                assert values == pytest.approx(expected, abs=1e-6)
                assert values != pytest.approx(coupled["fp64"][name]["after"][str(step)], abs=1e-6)


def test_only_matrices_decay() -> None:
    named = {role: nn.Parameter(torch.ones(2, 2)) for role in ("matrix", "head", "embedding", "gain")}
    for parameter in named.values():
        parameter.grad = torch.zeros_like(parameter)
    roles = {"matrix": "matrix", "head": "head", "embedding": "embedding", "gain": "gain"}
    settings, rates = OptimizerSettings(weight_decay=0.1), Rates(0.5, 0.5, "test")
    make_optimizer(named, roles, {}, settings, rates).step(1.0)  # type: ignore[arg-type]
    decayed = {name: float(parameter.detach().mean()) for name, parameter in named.items()}
    assert decayed == pytest.approx({"matrix": 0.95, "head": 0.95, "embedding": 1.0, "gain": 1.0})


@pytest.mark.parametrize("kind", ["adamw", "muon"])
def test_the_state_is_whole_before_and_after_the_first_step(kind: str) -> None:
    network, optimizer = optimizer_of(kind)
    names = set(optimizer.state_tensors())
    assert all(not tensor.any() for tensor in optimizer.state_tensors().values())
    for parameter in network.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step(1.0)
    assert set(optimizer.state_tensors()) == names
    matrices = "momentum" if kind == "muon" else "exp_avg"
    assert f"{matrices}.layers.0.attention.qkv.weight" in names
    assert "exp_avg_sq.embedding.weight" in names
    optimizer.zero_grad()
    assert all(parameter.grad is None for parameter in optimizer.parameters)


def test_another_state_is_refused_by_name() -> None:
    _, adamw = optimizer_of("adamw")
    _, muon = optimizer_of("muon")
    with pytest.raises(MismatchError, match=r"optimizer state: .*\[optimizer\] or \[model\] has changed"):
        muon.load_state_tensors(adamw.state_tensors())
    state = adamw.state_tensors()
    state["exp_avg.final_norm.weight"] = torch.zeros(3)
    with pytest.raises(MismatchError, match=r"exp_avg\.final_norm\.weight is .* \(3,\)"):
        adamw.load_state_tensors(state)
