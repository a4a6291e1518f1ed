"""The poison of conftest.py works: memory that was never written cannot pass for a result."""

from __future__ import annotations

import torch


def test_uninitialised_memory_is_poison() -> None:
    for tensor in (torch.empty(3), torch.empty_like(torch.zeros(3)), torch.zeros(3).new_empty(3)):
        assert tensor.isnan().all()
    assert (torch.empty(3, dtype=torch.int64) == torch.iinfo(torch.int64).max).all()
    assert torch.empty(3, requires_grad=True).requires_grad


def test_written_memory_is_not() -> None:
    assert torch.nn.Linear(3, 2).weight.isfinite().all()
    assert torch.empty(2, device="meta").is_meta
