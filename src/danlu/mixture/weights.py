"""Which share of the tokens each domain gets: pure functions from sizes and wishes to weights.

Guarantees: weights sum to 1; no domain is asked for more than max_epochs of its text; sample shares are whole
numbers of 1/2^20, so that the order of the domains is exact integer arithmetic. Costs: nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from danlu.errors import RecipeError
from danlu.log import human
from danlu.mixture.settings import MixtureSettings

SHARE_UNIT = 1 << 20
"""Sample shares are counted in 1/SHARE_UNIT."""


def resolve_weights(
    settings: MixtureSettings, domain_tokens: Mapping[str, int], total_tokens: int
) -> dict[str, float]:
    """Token weights of every domain for a run of `total_tokens`; sorted by name, sum 1.

    The recipe's weights, or shares proportional to tokens^(1/temperature); then capped at max_epochs. Raises
    RecipeError where the names do not fit or the text does not last.
    """
    wanted = (
        _normalised(settings.weights)
        if settings.weights
        else temperature_weights(domain_tokens, settings.temperature)
    )
    if set(wanted) != set(domain_tokens):
        wrong = sorted(set(wanted) ^ set(domain_tokens))[0]
        what = "has no text" if wrong in wanted else "has no weight"
        raise RecipeError(
            f"mixture.weights: domain {wrong!r} {what}; domains with text: {', '.join(sorted(domain_tokens))}"
        )
    return cap_epochs(wanted, domain_tokens, total_tokens, settings.max_epochs)


def temperature_weights(domain_tokens: Mapping[str, int], temperature: float) -> dict[str, float]:
    """Shares proportional to tokens^(1/temperature): 1 is by size, large is uniform (mT5, Xue et al. 2021, 2.1)."""
    largest = max(domain_tokens.values())
    return _normalised(
        {name: (count / largest) ** (1.0 / temperature) for name, count in domain_tokens.items()}
    )


def cap_epochs(
    weights: Mapping[str, float], domain_tokens: Mapping[str, int], total_tokens: int, max_epochs: float
) -> dict[str, float]:
    """Holds every domain at `max_epochs` of its text; the excess goes to the others in proportion to their weights.

    Raises RecipeError where even max_epochs of everything is less than `total_tokens`, saying how much there is.
    """
    possible = max_epochs * sum(domain_tokens.values())
    if possible < total_tokens * (1.0 - 1e-12):
        raise RecipeError(
            f"train.tokens = {total_tokens} ({human(total_tokens)}) is more than mixture.max_epochs = {max_epochs:g} "
            f"passes over all text give: {math.floor(possible)} ({human(possible)}). Set train.tokens to at most that, "
            f"raise mixture.max_epochs to {math.ceil(100 * total_tokens / sum(domain_tokens.values())) / 100:g}, "
            f"or add text"
        )
    limits = {name: max_epochs * domain_tokens[name] / total_tokens for name in weights}
    capped: set[str] = set()
    while True:
        free = {name: weight for name, weight in weights.items() if name not in capped}
        left = 1.0 - sum(limits[name] for name in sorted(capped))
        scale = left / sum(free[name] for name in sorted(free)) if free else 0.0
        shares = {name: limits[name] if name in capped else weights[name] * scale for name in sorted(weights)}
        over = {name for name in free if shares[name] > limits[name] + 1e-15}
        if not over:
            return shares
        capped |= over


def to_sample_shares(weights: Mapping[str, float], mean_filled: Mapping[str, float]) -> dict[str, int]:
    """Token weights -> sample shares in 1/2^20: divided by the mean tokens of a sample, rounded by largest remainder.

    Raises RecipeError for a domain that would get less than one in 2^20 samples.
    """
    samples = _normalised({name: weights[name] / mean_filled[name] for name in weights})
    exact = {name: share * SHARE_UNIT for name, share in samples.items()}
    for name, share in exact.items():
        if share < 1.0:
            raise RecipeError(
                f"mixture: domain {name!r} gets {weights[name]:.3g} of the tokens, less than one sample in "
                f"{SHARE_UNIT}; raise its weight or remove the domain"
            )
    shares = {name: math.floor(share) for name, share in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (shares[name] - exact[name], name))
    for name in by_remainder[: SHARE_UNIT - sum(shares.values())]:
        shares[name] += 1
    return shares


def _normalised(weights: Mapping[str, float]) -> dict[str, float]:
    total = math.fsum(weights.values())
    return {name: weights[name] / total for name in sorted(weights)}
