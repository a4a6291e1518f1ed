"""The recipe's `[checkpoint]`: when the run is saved and which saves stay."""

from __future__ import annotations

from pydantic import Field

from danlu.config import Section, Size


class CheckpointSettings(Section):
    """Each of the three intervals is due on its own; 0 is never.

    One save is made before step 1 and at the end.
    """

    every_steps: int = Field(default=1000, ge=0)
    every_tokens: Size = Field(default=0, ge=0)
    every_minutes: float = Field(default=0.0, ge=0.0)
    keep_last: int = Field(default=3, ge=1)
    keep_every_steps: int = Field(default=0, ge=0)
    """Saves at multiples of this stay for ever."""
