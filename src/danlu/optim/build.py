"""The optimizer of a run: AdamW for all, or Muon for the matrices and AdamW for the rest, behind one small surface.

Guarantee: `state_tensors` is the whole state, flat and by parameter name, so that it goes into safetensors and a
resume is bitwise. Costs: fused AdamW is one sweep over weights and state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from danlu.errors import MismatchError
from danlu.optim.groups import group_by_role
from danlu.optim.muon import Muon
from danlu.optim.rates import Rates
from danlu.optim.settings import OptimizerSettings
from danlu.records import Role

_ADAMW_STATE = ("step", "exp_avg", "exp_avg_sq")


class Optimizer:
    """Moves all parameters of a network; made by `make_optimizer`."""

    def __init__(
        self,
        named: Mapping[str, nn.Parameter],
        adamw: torch.optim.AdamW | None,
        muon: Muon | None,
        rates: Rates,
    ):
        self._named, self._adamw, self._muon, self._rates = dict(named), adamw, muon, rates
        self.parameters = list(self._named.values())

    def step(self, lr_factor: float) -> None:
        """One update at `lr_factor` of the peak rates."""
        if self._muon is not None:
            self._muon.step(self._rates.matrix_learning_rate * lr_factor)
        if self._adamw is not None:
            for group in self._adamw.param_groups:
                group["lr"] = self._rates.learning_rate * lr_factor
            self._adamw.step()

    def zero_grad(self) -> None:
        """Forgets the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    def state_tensors(self) -> dict[str, Tensor]:
        """The state, e.g. "exp_avg.embedding.weight"; the tensors themselves, not copies."""
        tensors = {}
        for name, parameter in self._named.items():
            if self._muon is not None and name in self._muon.momentum:
                tensors[f"momentum.{name}"] = self._muon.momentum[name]
            elif self._adamw is not None:
                state = self._adamw.state[parameter]
                tensors |= {f"{kind}.{name}": state[kind] for kind in _ADAMW_STATE}
        return tensors

    @torch.no_grad()
    def load_state_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Copies a saved state in; MismatchError names the first tensor that is missing, foreign or misshapen."""
        mine = self.state_tensors()
        for name in sorted(mine.keys() ^ tensors.keys()):
            what = "is missing from the saved state" if name in mine else "is not of this optimizer"
            raise MismatchError(
                f"optimizer state: {name} {what}; the recipe's [optimizer] or [model] has changed"
            )
        for name, tensor in mine.items():
            saved = tensors[name]
            if saved.shape != tensor.shape or saved.dtype != tensor.dtype:
                raise MismatchError(
                    f"optimizer state: {name} is {saved.dtype} {tuple(saved.shape)} where "
                    f"{tensor.dtype} {tuple(tensor.shape)} is needed"
                )
            tensor.copy_(saved)


def make_optimizer(
    parameters: Mapping[str, nn.Parameter],
    roles: Mapping[str, Role],
    splits: Mapping[str, Sequence[int]],
    settings: OptimizerSettings,
    rates: Rates,
) -> Optimizer:
    """The optimizer of the recipe for named parameters, their roles and the splits of fused ones (model/network.py)."""
    groups = group_by_role(roles, settings.kind)
    adamw = _make_adamw(
        [parameters[name] for name in groups.adamw_decay],
        [parameters[name] for name in groups.adamw_plain],
        settings,
        rates.learning_rate,
    )
    muon = None
    if groups.muon:
        matrices = {name: parameters[name] for name in groups.muon}
        muon = Muon(matrices, splits, settings.momentum, settings.weight_decay)
    return Optimizer(parameters, adamw, muon, rates)


def _make_adamw(
    decayed: list[nn.Parameter], plain: list[nn.Parameter], settings: OptimizerSettings, rate: float
) -> torch.optim.AdamW | None:
    """Fused AdamW with its state made at once, so that a save before the first step is whole."""
    if not decayed and not plain:
        return None
    groups = [
        {"params": decayed, "weight_decay": settings.weight_decay},
        {"params": plain, "weight_decay": 0.0},
    ]
    adamw = torch.optim.AdamW(
        [group for group in groups if group["params"]],
        lr=rate,
        betas=settings.betas,
        eps=settings.epsilon,
        fused=True,
    )
    for parameter in (*decayed, *plain):
        adamw.state[parameter] = {
            "step": torch.zeros((), dtype=torch.float32, device=parameter.device),
            "exp_avg": torch.zeros_like(parameter),
            "exp_avg_sq": torch.zeros_like(parameter),
        }
    return adamw
