"""The recipe's `[objective]`: what the model learns to predict."""

from __future__ import annotations

from pydantic import Field, field_validator

from danlu.config import Section, nearest

KINDS = ("causal",)


class ObjectiveSettings(Section):
    """Shares of the objectives; only `causal` exists so far."""

    weights: dict[str, float] = Field(default_factory=lambda: {"causal": 1.0})

    @field_validator("weights")
    @classmethod
    def _known(cls, value: dict[str, float]) -> dict[str, float]:
        for name in value:
            if name not in KINDS:
                raise ValueError(f"objective {name!r} is not supported yet; {nearest(name, KINDS)}")
        if value != {"causal": 1.0}:
            raise ValueError("the only objective so far is weights = { causal = 1.0 }")
        return value
