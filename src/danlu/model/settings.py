"""The recipe's `[model]`: one dial (`size`) or a full shape."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from danlu.config import Section, Size


class RopeSettings(Section):
    """Rotary positions (Su et al. 2021)."""

    theta: float = Field(default=10_000.0, gt=0.0)


class ModelSettings(Section):
    """A Llama-like network: RMSNorm, SwiGLU, RoPE, grouped-query attention."""

    size: Size | None = None
    """Parameters without embeddings, from which the shape follows; or give the shape."""
    width: int | None = Field(default=None, gt=0)
    layers: int | None = Field(default=None, gt=0)
    heads: int | None = Field(default=None, gt=0)
    kv_heads: int | None = Field(default=None, gt=0)
    """Default: as many as heads."""
    ffn_width: int | None = Field(default=None, gt=0)
    """Default: 8/3 of the width, rounded up to a multiple of 32."""
    tie_embeddings: bool = True
    norm: Literal["rms"] = "rms"
    norm_epsilon: float = Field(default=1e-5, gt=0.0)
    qk_norm: bool = True
    attention: Literal["auto", "sdpa", "reference"] = "auto"
    rope: RopeSettings = RopeSettings()

    @model_validator(mode="after")
    def _one_way(self) -> ModelSettings:
        shape = (self.width, self.layers, self.heads)
        if self.size is not None and any(
            part is not None for part in (*shape, self.kv_heads, self.ffn_width)
        ):
            raise ValueError("size and a shape (width, layers, heads, ...) contradict: name one of them")
        if any(part is not None for part in shape) and any(part is None for part in shape):
            raise ValueError("a shape needs width, layers and heads")
        if (self.kv_heads or self.ffn_width) and self.width is None:
            raise ValueError("a shape needs width, layers and heads")
        return self
