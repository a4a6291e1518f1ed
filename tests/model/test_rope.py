from __future__ import annotations

import pytest
import torch

from danlu.model.rope import inverse_frequencies, split_turned, turn, turns_table
from networks import golden


@pytest.mark.parametrize("case", golden("rope")["plain"], ids=lambda case: case["name"])
def test_golden_frequencies(case: dict[str, object]) -> None:
    ours = inverse_frequencies(int(str(case["head_dim"])), float(str(case["rope_theta"])))
    assert ours.tolist() == pytest.approx(case["inv_freq_fp64"], rel=1e-12)


def plain(x: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
    """The 2x2 rotation of each pair, written out."""
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = torch.empty_like(x)
    turned[..., 0::2] = even * angles.cos() - odd * angles.sin()
    turned[..., 1::2] = even * angles.sin() + odd * angles.cos()
    return turned


def test_a_turn_is_the_rotation_of_each_pair() -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 5, 3, 8, dtype=torch.float64, requires_grad=True)
    positions = torch.tensor([[0, 1, 2, 3, 4], [0, 1, 0, 1, 2]])
    angles = positions[:, :, None, None] * inverse_frequencies(8, 100.0)
    turns = turns_table(5, 8, 100.0)[positions].unsqueeze(2)
    slow, fast = plain(x, angles), turn(x, turns)
    torch.testing.assert_close(fast, slow, atol=1e-12, rtol=1e-12)
    weights = torch.randn_like(x)
    (a,), (b,) = torch.autograd.grad(fast, x, weights), torch.autograd.grad(slow, x, weights)
    torch.testing.assert_close(a, b, atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize(("heads", "kv_heads"), [(4, 4), (4, 2), (3, 1)])
def test_the_fused_split_is_split_then_turn(heads: int, kv_heads: int) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 5, heads + 2 * kv_heads, 8, dtype=torch.float64, requires_grad=True)
    turns = turns_table(5, 8, 100.0)[None, :, None]
    q, k, v = x.split([heads, kv_heads, kv_heads], dim=2)
    slow, fast = (turn(q, turns), turn(k, turns), v), split_turned(x * 1.0, turns, heads, kv_heads)
    weights = [torch.randn_like(part) for part in slow]
    for a, b in zip(fast, slow, strict=True):
        torch.testing.assert_close(a, b, atol=0, rtol=0)
    (a,) = torch.autograd.grad(fast, x, weights)
    (b,) = torch.autograd.grad(slow, x, weights)
    torch.testing.assert_close(a, b, atol=1e-15, rtol=1e-15)


def test_short_floats_are_turned_in_fp32() -> None:
    turns = turns_table(5000, 8, 10_000.0).to(torch.complex64)[None, -1:, None]
    x = torch.ones(1, 1, 1, 8, dtype=torch.bfloat16)
    assert turn(x, turns).dtype == torch.bfloat16
    torch.testing.assert_close(turn(x, turns).float(), turn(x.float(), turns), atol=4e-3, rtol=4e-3)


def test_scores_depend_on_distance_alone() -> None:
    torch.manual_seed(0)
    q, k = torch.randn(2, 1, 1, 1, 16, dtype=torch.float64)
    table = turns_table(2000, 16, 10_000.0)

    def score(at: int, to: int) -> float:
        return float(
            (turn(q, table[None, at : at + 1, None]) * turn(k, table[None, to : to + 1, None])).sum()
        )

    assert score(7, 3) == pytest.approx(score(1999, 1995), abs=1e-10)
