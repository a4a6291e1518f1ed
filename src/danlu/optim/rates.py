"""Peak learning rates where the recipe says "auto", each with its reason. No torch.

Decides: up to 1B parameters Step Law (Li et al. 2025, "Predictable Scale: Part I"), rate = 1.79 N^-0.713 D^0.307 with N
parameters without embeddings and D tokens; beyond, DeepSeek's law (Bi et al. 2024), rate = 0.3118 C^-0.125 with
C = 6 N D. Both are held within what public runs have used. Muon's update is scaled to the RMS of AdamW's, so that it
takes the same rate (Liu et al. 2025, "Muon is Scalable for LLM Training").
"""

from __future__ import annotations

from dataclasses import dataclass

from danlu.optim.settings import OptimizerSettings

_LOWEST, _HIGHEST = 3e-5, 1e-2
_STEP_LAW_PARAMETERS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Rates:
    """Peak rates of AdamW and of Muon's matrices (the same number where AdamW moves those too)."""

    learning_rate: float
    matrix_learning_rate: float
    reason: str


def resolve_rates(settings: OptimizerSettings, parameters: int, tokens: int) -> Rates:
    """The peak rates for a network of `parameters` (without embeddings) trained on `tokens`."""
    reasons = []
    if settings.learning_rate == "auto":
        rate, reason = _published(parameters, tokens)
        reasons.append(f"learning rate {rate:.2g}: {reason}")
    else:
        rate = settings.learning_rate
        reasons.append(f"learning rate {rate:.2g}: named by the recipe")
    matrix_rate = rate
    if settings.kind == "muon":
        if settings.matrix_learning_rate == "auto":
            reasons.append(f"matrices {rate:.2g}: Muon's update has AdamW's RMS, so it takes AdamW's rate")
        else:
            matrix_rate = settings.matrix_learning_rate
            reasons.append(f"matrices {matrix_rate:.2g}: named by the recipe")
    return Rates(rate, matrix_rate, "; ".join(reasons))


def _published(parameters: int, tokens: int) -> tuple[float, str]:
    if parameters <= _STEP_LAW_PARAMETERS:
        rate = 1.79 * parameters**-0.713 * tokens**0.307
        reason = "Step Law, 1.79 N^-0.713 D^0.307"
    else:
        rate = 0.3118 * (6.0 * parameters * tokens) ** -0.125
        reason = "DeepSeek's law, 0.3118 C^-0.125"
    held = min(max(rate, _LOWEST), _HIGHEST)
    if held != rate:
        reason += f" gives {rate:.2g}, held within {_LOWEST:g} to {_HIGHEST:g}"
    return held, f"{reason} (N = {parameters:,}, D = {tokens:,})"
