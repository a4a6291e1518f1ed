"""Which number format the forward and backward pass use on this device, and why.

Decides: "auto" is bf16 autocast on a GPU that has it and fp32 elsewhere: without matrix units for it, bf16 is slower
than fp32 on a CPU (measured 1.6 times on AVX-512). Weights, optimizer state, norms, positions and the loss stay fp32
whatever the choice. A choice that would do nothing on the device is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import torch

from danlu.errors import RecipeError
from danlu.precision.settings import PrecisionSettings

Kind = Literal["fp32", "tf32", "bf16"]


@dataclass(frozen=True, slots=True)
class Precision:
    """A chosen format; `dtype` is autocast's, None where nothing is cast."""

    kind: Kind
    device_type: str
    dtype: torch.dtype | None
    reason: str

    @contextmanager
    def context(self) -> Iterator[None]:
        """Wraps forward passes: autocast for bf16, TensorFloat-32 matmuls for tf32; restores what it changes."""
        if self.dtype is not None:
            with torch.autocast(self.device_type, dtype=self.dtype):
                yield
        elif self.kind == "tf32":
            before = torch.get_float32_matmul_precision()
            torch.set_float32_matmul_precision("high")
            try:
                yield
            finally:
                torch.set_float32_matmul_precision(before)
        else:
            yield


def resolve_precision(settings: PrecisionSettings, device: torch.device) -> Precision:
    """The format for this device; RecipeError where the device cannot do what the recipe asks."""
    on_gpu = device.type == "cuda"
    if settings.kind == "auto":
        if on_gpu and torch.cuda.is_bf16_supported(including_emulation=False):
            return _precision("bf16", device, "the GPU multiplies bf16 natively")
        where = "the GPU has no bf16 units" if on_gpu else "on a CPU fp32 is the fastest safe format"
        return _precision("fp32", device, where)
    if settings.kind == "tf32" and not on_gpu:
        raise RecipeError('precision.kind = "tf32" needs an NVIDIA GPU; on a CPU use "fp32" or "auto"')
    return _precision(settings.kind, device, "named by the recipe")


def _precision(kind: Kind, device: torch.device, reason: str) -> Precision:
    return Precision(kind, device.type, torch.bfloat16 if kind == "bf16" else None, reason)
