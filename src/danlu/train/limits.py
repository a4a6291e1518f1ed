"""Limits of one command: how far this invocation may train. They never change the schedule of the run.

Guarantee: training stops before the step that would exceed a limit, never after it. No torch.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from danlu.errors import UsageError


@dataclass(frozen=True)
class Limits:
    """`steps` and `tokens` count since the start of the run, `minutes` since the start of this command."""

    steps: int | None = None
    tokens: int | None = None
    minutes: float | None = None
    started: float = field(default_factory=time.monotonic)
    """When the command began, by the monotonic clock."""

    def __post_init__(self) -> None:
        for name in ("steps", "tokens", "minutes"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                raise UsageError(f"--{name} {value} is not a number from 0 up")

    def forbid(self, step: int, tokens: int, seconds: float) -> str | None:
        """Why the next step may not run, if it would end as step number `step`, at `tokens`, `seconds` from now."""
        if self.steps is not None and step > self.steps:
            return f"--steps {self.steps}"
        if self.tokens is not None and tokens > self.tokens:
            return f"--tokens {self.tokens}"
        if self.minutes is not None and time.monotonic() + seconds > self.started + self.minutes * 60:
            return f"--minutes {self.minutes:g}"
        return None
