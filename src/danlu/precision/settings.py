"""The recipe's `[precision]`: the number format of the forward and backward pass."""

from __future__ import annotations

from typing import Literal

from danlu.config import Section


class PrecisionSettings(Section):
    """ "auto" takes what is fastest and safe on the device; weights, optimizer and reductions stay fp32."""

    kind: Literal["auto", "fp32", "tf32", "bf16"] = "auto"
