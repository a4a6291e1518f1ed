"""The recipe's `[mixture]`: in which shares the domains are read."""

from __future__ import annotations

from pydantic import Field, field_validator, model_validator

from danlu.config import Section


class MixtureSettings(Section):
    """Shares over tokens. A domain that is not named, when some are, is an error; none named: by size."""

    weights: dict[str, float] = Field(default_factory=dict)
    temperature: float = Field(default=1.0, gt=0.0)
    """Without weights: share proportional to tokens^(1/temperature)."""
    max_epochs: float = Field(default=4.0, gt=0.0)
    """No domain is repeated more often; what it would need beyond is given to the others in proportion."""

    @field_validator("weights")
    @classmethod
    def _positive(cls, value: dict[str, float]) -> dict[str, float]:
        for domain, weight in value.items():
            if not 0.0 < weight < float("inf"):
                raise ValueError(f"the weight of {domain!r} is {weight}; it must be above 0")
        return value

    @model_validator(mode="after")
    def _one_way(self) -> MixtureSettings:
        if self.weights and self.temperature != 1.0:
            raise ValueError("weights and temperature contradict: name one of them")
        return self
