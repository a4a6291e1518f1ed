"""What every test runs under: one thread, no network, seeded examples, and uninitialised memory that is poison."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

# Set before numpy and torch are imported; a child process inherits them.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["NO_COLOR"] = "1"

import hypothesis
import pytest

hypothesis.settings.register_profile("danlu", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("danlu")

_MAKERS = ("empty", "empty_like")
_METHODS = ("new_empty",)


def _poisoned(make: Callable[..., Any]) -> Callable[..., Any]:
    """The same maker of uninitialised tensors, filled with what no result should hold."""
    import torch

    @functools.wraps(make)
    def filled(*args: Any, **kwargs: Any) -> Any:
        tensor = make(*args, **kwargs)
        if tensor.is_meta:
            return tensor
        with torch.no_grad():
            if tensor.is_floating_point():
                tensor.fill_(float("nan"))
            elif tensor.dtype is not torch.bool and not tensor.is_complex():
                tensor.fill_(torch.iinfo(tensor.dtype).max)
        return tensor

    return filled


@pytest.fixture(autouse=True)
def poison_uninitialised_memory() -> None:
    """Makes torch.empty return NaN, so that reading what was never written shows; nothing where torch is not loaded."""
    torch = sys.modules.get("torch")
    if torch is None or hasattr(torch.empty, "__wrapped__"):
        return
    for name in _MAKERS:
        setattr(torch, name, _poisoned(getattr(torch, name)))
    for name in _METHODS:
        setattr(torch.Tensor, name, _poisoned(getattr(torch.Tensor, name)))
