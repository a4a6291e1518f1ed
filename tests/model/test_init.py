from __future__ import annotations

import math

import pytest
import torch

from danlu.attention import sdpa
from danlu.model.init import initialise
from danlu.model.network import Network
from networks import small_shape


def initialised(seed: int, **settings: object) -> dict[str, torch.Tensor]:
    network = Network(small_shape(**settings), sdpa.attend)
    initialise(network, seed)
    return network.state_dict()


def test_depends_on_seed_and_name_alone() -> None:
    once = initialised(3)
    torch.manual_seed(99)
    torch.randn(5)
    before = torch.get_rng_state()
    again, deeper, other = initialised(3), initialised(3, layers=4, tie_embeddings=False), initialised(4)
    assert torch.equal(torch.get_rng_state(), before)
    for name, tensor in once.items():
        assert torch.equal(tensor, again[name])
        if tensor.ndim == 2:
            assert not torch.equal(tensor, other[name])
            depth_scaled = name.endswith(("output.weight", "down.weight"))
            expected = tensor / math.sqrt(2) if depth_scaled else tensor
            torch.testing.assert_close(deeper[name], expected, atol=1e-7, rtol=1e-5)
    assert not torch.equal(once["layers.0.attention.qkv.weight"], once["layers.1.attention.qkv.weight"])


def test_scales() -> None:
    tensors = initialised(0, width=256, heads=4, kv_heads=4, ffn_width=512)
    for name, std in (
        ("embedding.weight", 0.02),
        ("layers.0.attention.qkv.weight", 256**-0.5),
        ("layers.1.feed_forward.gate_up.weight", 256**-0.5),
        ("layers.0.attention.output.weight", 256**-0.5 / 2),
        ("layers.1.feed_forward.down.weight", 512**-0.5 / 2),
    ):
        assert float(tensors[name].std()) == pytest.approx(std, rel=0.04)
        assert float(tensors[name].abs().max()) <= 3 * std * 1.0001
    assert torch.equal(tensors["final_norm.weight"], torch.ones(256))


def test_the_first_numbers_are_frozen() -> None:
    """A change here changes every run that has not begun yet: say so in the CHANGELOG."""
    first = initialised(1)["layers.0.attention.qkv.weight"][0, :3]
    assert first.tolist() == pytest.approx(FIRST, rel=1e-6)


FIRST = [0.025675522, -0.17722927, 0.22612272]
