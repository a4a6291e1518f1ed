"""The recipe's `[plan]`: what bounds the length of a run that is given in minutes."""

from __future__ import annotations

from pydantic import Field, model_validator

from danlu.config import Section, Size


class PlanSettings(Section):
    """With train.minutes, the tokens follow from a short measurement, within these bounds, once."""

    min_tokens: Size | None = Field(default=None, gt=0)
    max_tokens: Size | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _ordered(self) -> PlanSettings:
        if self.min_tokens and self.max_tokens and self.min_tokens > self.max_tokens:
            raise ValueError("min_tokens is above max_tokens")
        return self
