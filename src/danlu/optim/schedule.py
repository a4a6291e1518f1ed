"""The learning-rate factor as a function of tokens. No torch.

Decides: the factor of a step depends on tokens, never on step counts, so that it survives another batch size.
Warm-up is linear in the tokens at the end of the step, decay in those at its start, so that neither the first nor the
last step is at rate 0; between them wsd is flat (a linear decay over the last share), and cosine, linear and constant
are what their names say. Guarantee: progress is clamped: the factor never rises again after the planned end.
"""

from __future__ import annotations

import math

from danlu.errors import RecipeError
from danlu.optim.settings import ScheduleSettings

_WARMUP_SHARE = 0.02
_WARMUP_MIN_STEPS = 10


def resolve_warmup(settings: ScheduleSettings, total_tokens: int, batch_tokens: int) -> int:
    """Tokens of warm-up; "auto" is 2 % of the run, at least 10 steps, at most half of a very short run."""
    if settings.warmup_tokens != "auto":
        if settings.warmup_tokens >= total_tokens:
            raise RecipeError(
                f"schedule.warmup_tokens = {settings.warmup_tokens:,} leaves nothing of a run of "
                f"{total_tokens:,} tokens; lower it or raise train.tokens"
            )
        return settings.warmup_tokens
    wanted = max(round(_WARMUP_SHARE * total_tokens), _WARMUP_MIN_STEPS * batch_tokens)
    return min(wanted, total_tokens // 2)


def rate_factor(
    settings: ScheduleSettings,
    tokens_before_step: int,
    step_tokens: int,
    total_tokens: int,
    warmup_tokens: int,
) -> float:
    """Factor of the peak rate, 0..1, for a step of `step_tokens` that starts after `tokens_before_step` tokens."""
    warmed = tokens_before_step + step_tokens
    if warmed < warmup_tokens:
        return warmed / warmup_tokens
    if settings.kind == "constant":
        return 1.0
    floor = settings.final_ratio
    start = warmup_tokens
    if settings.kind == "wsd":
        start = max(start, total_tokens - round(settings.decay_share * total_tokens))
    if tokens_before_step >= total_tokens:
        return floor
    if tokens_before_step <= start:
        return 1.0
    progress = (tokens_before_step - start) / (total_tokens - start)
    fall = 0.5 * (1.0 + math.cos(math.pi * progress)) if settings.kind == "cosine" else 1.0 - progress
    return floor + (1.0 - floor) * fall
