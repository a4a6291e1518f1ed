"""The recipe's `[monitor]`: what is logged, and the prompts that are continued on the way."""

from __future__ import annotations

from pydantic import Field

from danlu.config import Section


class MonitorSettings(Section):
    """Metrics go to metrics.jsonl in the run directory."""

    log_every_steps: int = Field(default=1, ge=1)
    samples: list[str] = Field(default_factory=list)
    """Prompts continued at every periodic evaluation."""
    sample_tokens: int = Field(default=48, ge=1)
