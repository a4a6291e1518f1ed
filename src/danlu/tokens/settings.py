"""The recipe's `[tokens]` and `[mixture]`: how documents become samples, and in which shares."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from danlu.config import Section


class TokensSettings(Section):
    """How documents are cut and packed."""

    packing: Literal["best_fit", "chunk", "greedy", "none"] = "best_fit"
    """best_fit: longest first, each where it leaves the least room, almost no padding and few documents cut; chunk: one
    stream cut at every sample's end, no padding, most documents cut; greedy: documents in their order, the next sample
    where one does not fit; none: a document (or a sample's length of it) each.
    """
    document_mask: bool = True
    """Tokens attend only within their own document."""
    reset_positions: bool = True
    """Positions start at 0 in every piece."""

    @model_validator(mode="after")
    def _positions_need_mask(self) -> TokensSettings:
        if self.reset_positions and not self.document_mask:
            raise ValueError(
                "reset_positions without document_mask gives two tokens that see each other the same position; "
                "set reset_positions = false or document_mask = true"
            )
        return self


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
