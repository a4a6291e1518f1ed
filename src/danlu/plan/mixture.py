"""What a run takes from each domain: tokens and epochs, before it starts.

The shares are those of the stages, which decide the order of the data too. No torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from danlu.mixture.stages import PlannedStage


@dataclass(frozen=True, slots=True)
class PlannedDomain:
    """A domain's share of the run, the tokens that it has, the tokens that the run takes, and how often that
    is.
    """

    domain: str
    share: float
    available_tokens: int
    planned_tokens: int
    epochs: float


def plan_mixture(
    stages: Sequence[PlannedStage], domain_tokens: Mapping[str, int], batch_tokens: int
) -> tuple[PlannedDomain, ...]:
    """A row a domain that is read, by falling share of the whole run."""
    taken: dict[str, float] = {}
    for stage in stages:
        for domain, weight in stage.weights.items():
            taken[domain] = taken.get(domain, 0.0) + weight * stage.steps * batch_tokens
    total = sum(stage.steps for stage in stages) * batch_tokens
    rows = [
        PlannedDomain(
            domain, tokens / total, domain_tokens[domain], round(tokens), tokens / domain_tokens[domain]
        )
        for domain, tokens in taken.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.share, row.domain)))
