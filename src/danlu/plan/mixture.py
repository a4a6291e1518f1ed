"""What a run takes from each domain: tokens and epochs, before it starts.

The shares come from mixture/weights.py, the same function that the order of the data uses. No torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from danlu.mixture.settings import MixtureSettings
from danlu.mixture.weights import resolve_weights


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
    settings: MixtureSettings, domain_tokens: Mapping[str, int], total_tokens: int
) -> tuple[PlannedDomain, ...]:
    """A row a domain, by falling share. Raises RecipeError where the text cannot give `total_tokens`."""
    weights = resolve_weights(settings, dict(domain_tokens), total_tokens)
    rows = [
        PlannedDomain(
            domain,
            share,
            domain_tokens[domain],
            round(share * total_tokens),
            share * total_tokens / domain_tokens[domain],
        )
        for domain, share in weights.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.share, row.domain)))
