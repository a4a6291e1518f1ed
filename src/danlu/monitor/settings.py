"""The recipe's `[monitor]`: what is logged, and the prompts that are continued on the way."""

from __future__ import annotations

from pydantic import Field, field_validator, model_validator

from danlu.config import Section


class MonitorSettings(Section):
    """Metrics go to metrics.jsonl in the run directory."""

    log_every_steps: int = Field(default=1, ge=1)
    samples: list[str] = Field(default_factory=list)
    """Prompts that the model continues on the way."""
    sample_shares: list[float] = Field(default_factory=lambda: [0.0, 0.1, 0.25, 0.5, 0.75, 1.0])
    """When: shares of the whole training, to the nearest step."""
    sample_tokens: int = Field(default=48, ge=1)

    @field_validator("sample_shares")
    @classmethod
    def _within_the_run(cls, value: list[float]) -> list[float]:
        for share in value:
            if not 0.0 <= share <= 1.0:
                raise ValueError(f"{share} is not a share of the training; write numbers from 0 to 1")
        return value

    @model_validator(mode="after")
    def _keys_have_effect(self) -> MonitorSettings:
        for key in ("sample_tokens", "sample_shares"):
            if self.is_changed(key) and not self.samples:
                raise ValueError(f"{key} has no effect without samples, the prompts to continue")
        return self
