"""The recipe's `[evaluate]`: how often the validation text is measured while training."""

from __future__ import annotations

from pydantic import Field, model_validator

from danlu.config import Section, Size


class EvaluateSettings(Section):
    """All held-out text is measured before step 1, and by `danlu run` and `danlu evaluate` after the last one."""

    every_steps: int = Field(default=250, ge=0)
    """0: none on the way."""
    max_tokens: Size = Field(default=200_000, gt=0)
    """Held-out tokens of each domain that a periodic evaluation takes."""

    @model_validator(mode="after")
    def _keys_have_effect(self) -> EvaluateSettings:
        if self.is_changed("max_tokens") and self.every_steps == 0:
            raise ValueError(
                "max_tokens has no effect with every_steps = 0: it bounds the periodic evaluation"
            )
        return self
