"""The recipe's `[evaluate]`: how often the validation text is measured while training."""

from __future__ import annotations

from pydantic import Field

from danlu.config import Section, Size


class EvaluateSettings(Section):
    """A full evaluation runs before step 1 and at the end."""

    every_steps: int = Field(default=250, ge=0)
    """0: only at the start and the end."""
    max_tokens: Size = Field(default=200_000, gt=0)
    """Validation tokens a domain in a periodic evaluation; the final one takes all."""
