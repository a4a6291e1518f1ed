"""The recipe's `[corpus]`: sources, the list of steps, the split, the size limit."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from danlu.config import Section, Size
from danlu.dedup.settings import Exact
from danlu.quality.settings import Length, Normalize, Repetition
from danlu.read.settings import Source

Step = Annotated[Normalize | Length | Repetition | Exact, Field(discriminator="use")]
DEFAULT_STEPS: tuple[Step, ...] = (Normalize(), Length(), Repetition(), Exact())


class CorpusSettings(Section):
    """What becomes the corpus, in the order of `step`."""

    validation_share: float = Field(default=0.005, ge=0.0, lt=1.0)
    """By hash of the document (of its source file where it came from one), never by position."""
    max_document_bytes: Size = Field(default=20_000_000, gt=0)
    """Longer ones are dropped and counted."""
    source: list[Source] = Field(min_length=1)
    step: list[Step] = Field(default_factory=lambda: list(DEFAULT_STEPS))

    @model_validator(mode="after")
    def _steps_once(self) -> CorpusSettings:
        names = [step.use for step in self.step]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"step {sorted(twice)[0]!r} is listed twice")
        return self
