"""The first weights, a function of (seed, parameter name) and nothing else.

Decides: gains are 1; embedding and head are normal with std 0.02; matrices with std 1/sqrt(fan-in), which is the usual
0.02 at a width of 2,500; the two projections onto the residual stream are smaller by sqrt(2 layers) (GPT-2, Radford et
al. 2019). All are cut off at three deviations.
Guarantee: independent of device, process, thread count and the order of the parameters. Costs: drawn on the CPU, once.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from danlu.model.network import Network
from danlu.rng import hash_key

_TABLE_STD = 0.02
_RESIDUAL = ("attention.output.weight", "feed_forward.down.weight")


@torch.no_grad()
def initialise(network: Network, seed: int) -> None:
    """Fills every parameter in place."""
    for name, role in network.roles().items():
        parameter = network.get_parameter(name)
        if role == "gain":
            parameter.fill_(1.0)
            continue
        std = _TABLE_STD
        if role == "matrix":
            std = parameter.shape[1] ** -0.5
            if name.endswith(_RESIDUAL):
                std /= math.sqrt(2 * network.shape.layers)
        parameter.copy_(_draw(parameter, std, hash_key("init", seed, name)))


def _draw(like: Tensor, std: float, key: int) -> Tensor:
    """Truncated normal numbers of the shape of `like`, from a generator of their own."""
    generator = torch.Generator().manual_seed(key >> 1)
    values = torch.empty(like.shape, dtype=torch.float32)
    return nn.init.trunc_normal_(values, std=std, a=-3 * std, b=3 * std, generator=generator)
