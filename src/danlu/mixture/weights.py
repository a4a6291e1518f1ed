"""Which share of the tokens each domain gets: pure functions from sizes and wishes to weights.

Guarantees: weights sum to 1; no domain is asked for more than max_epochs of its text over the whole run; arithmetic is
that of the decimal numbers as they are written, without rounding on the way; sample shares are whole numbers of
1/2^20, so that the order of the domains is exact integer arithmetic. Costs: sorting the domains.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

from danlu.errors import RecipeError
from danlu.log import human
from danlu.mixture.presets import read_presets
from danlu.mixture.settings import MixtureSettings

SHARE_UNIT = 1 << 20
"""Sample shares are counted in 1/SHARE_UNIT."""


def resolve_weights(
    settings: MixtureSettings,
    domain_tokens: Mapping[str, int],
    total_tokens: int,
    seen: Mapping[str, int] | None = None,
) -> dict[str, float]:
    """Token weights of the domains that `total_tokens` are read from; sorted by name, sum 1.

    The recipe's way of sharing out, then capped at max_epochs; `seen` are the tokens of each domain that earlier stages
    took. A domain that gets nothing (weight 0, or all its epochs seen) is left out. Raises RecipeError where the names
    do not fit or the text does not last.
    """
    check_domains(settings, domain_tokens)
    return cap_epochs(
        _wanted(settings, domain_tokens), domain_tokens, total_tokens, settings.max_epochs, seen
    )


def given_weights(settings: MixtureSettings) -> dict[str, float]:
    """The weights that are known before the text is: the recipe's or its preset's; else none."""
    return settings.weights or (read_presets()[settings.preset].weights if settings.preset else {})


def sampling_weights(mixtures: Sequence[MixtureSettings]) -> dict[str, float]:
    """Weights of the corpus's domains for a sample of its text, from the mixtures of all stages, which count alike.

    A slice's weight counts to its domain. Empty, which is by size, where a mixture is known only from the sizes.
    """
    whole: dict[str, float] = {}
    for mixture in mixtures:
        given = given_weights(mixture)
        if not given:
            return {}
        # A single mixture keeps its own unit.
        unit = math.fsum(given.values()) if len(mixtures) > 1 else 1.0
        for name, weight in given.items():
            domain = mixture.slice[name].of if name in mixture.slice else name
            whole[domain] = whole.get(domain, 0.0) + weight / unit
    return whole


def check_domains(settings: MixtureSettings, domains: Collection[str]) -> None:
    """Whether every domain has its place in the mixture, and the other way round. Raises RecipeError with both."""
    named = given_weights(settings) or settings.upsample
    key = next((key for key in ("weights", "preset", "upsample") if settings.is_changed(key)), "")
    without_text = sorted(set(named) - set(domains))
    without_place = sorted(set(domains) - set(named)) if key != "upsample" else []
    if not key or not (without_text or without_place):
        return
    wrong = [f"{name!r} has no text" for name in without_text]
    wrong += [f"{name!r} has no {'place in it' if key == 'preset' else 'weight'}" for name in without_place]
    advice = (
        "; call the sources' domains as the preset does, or write mixture.weights" if key == "preset" else ""
    )
    of = f" = {settings.preset!r}" if key == "preset" else ""
    raise RecipeError(
        f"mixture.{key}{of}: {', '.join(wrong)}; domains with text: {', '.join(sorted(domains))}{advice}"
    )


def temperature_weights(domain_tokens: Mapping[str, int], temperature: float) -> dict[str, float]:
    """Shares proportional to tokens^(1/temperature): 1 is by size, large is uniform (mT5, Xue et al. 2021, 2.1).

    The alpha of mT5 and XLM is 1/temperature.
    """
    largest = max(domain_tokens.values())
    return _normalised(
        {name: _exact((count / largest) ** (1.0 / temperature)) for name, count in domain_tokens.items()}
    )


def cap_epochs(
    weights: Mapping[str, float | Fraction],
    domain_tokens: Mapping[str, int],
    total_tokens: int,
    max_epochs: float,
    seen: Mapping[str, int] | None = None,
) -> dict[str, float]:
    """Holds every domain at `max_epochs` of its text; the excess goes to the others in proportion to their weights.

    One sweep, from the domain that fills first; with even weights it is UniMax (Chung et al. 2023, algorithm 1). Raises
    RecipeError where even max_epochs of everything is less than `total_tokens`, saying how much there is.
    """
    free = {name: _exact(weights[name]) for name in sorted(weights) if weights[name] > 0}
    if math.isinf(max_epochs):
        return _normalised(free)
    limits = _tokens_left({name: domain_tokens[name] for name in free}, max_epochs, seen or {})
    # What was seen is counted in whole tokens of each domain, so that the last stage may miss as many.
    if sum(limits.values()) + (len(free) if seen else 0) < total_tokens:
        raise _too_little(limits, domain_tokens, total_tokens, max_epochs, seen or {})
    left, weight_left = Fraction(total_tokens), sum(free.values())
    taken: dict[str, Fraction] = {}
    for name in sorted(free, key=lambda name: (limits[name] / free[name], name)):
        taken[name] = min(left * free[name] / weight_left, limits[name])
        left -= taken[name]
        weight_left -= free[name]
    # What rounding leaves of a domain that has had its epochs in earlier stages is no sample.
    least = Fraction(total_tokens, SHARE_UNIT)
    ended = {
        name
        for name in taken
        if not taken[name] or ((seen or {}).get(name) and taken[name] == limits[name] < least)
    }
    return _normalised({name: tokens for name, tokens in taken.items() if name not in ended})


def most_tokens(
    settings: MixtureSettings, domain_tokens: Mapping[str, int], seen: Mapping[str, int] | None = None
) -> int:
    """How many tokens max_epochs of the domains that this mixture reads give, less what was `seen`."""
    check_domains(settings, domain_tokens)
    read = {name: domain_tokens[name] for name, weight in _wanted(settings, domain_tokens).items() if weight}
    return math.floor(sum(_tokens_left(read, settings.max_epochs, seen or {}).values()))


def to_sample_shares(weights: Mapping[str, float], mean_filled: Mapping[str, float]) -> dict[str, int]:
    """Token weights -> sample shares in 1/2^20: divided by the mean tokens of a sample, rounded by largest remainder.

    Raises RecipeError for a domain that would get less than one in 2^20 samples.
    """
    samples = _normalised({name: _exact(weights[name]) / _exact(mean_filled[name]) for name in weights})
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


def _wanted(settings: MixtureSettings, domain_tokens: Mapping[str, int]) -> dict[str, Fraction]:
    """What the recipe asks for, in any unit, before the cap."""
    if given := given_weights(settings):
        return {name: _exact(weight) for name, weight in given.items()}
    if settings.method == "unimax":
        return dict.fromkeys(domain_tokens, Fraction(1))
    if settings.temperature != 1.0:
        uneven = temperature_weights(domain_tokens, settings.temperature)
        return {name: _exact(weight) for name, weight in uneven.items()}
    return {name: count * _exact(settings.upsample.get(name, 1.0)) for name, count in domain_tokens.items()}


def _tokens_left(
    domain_tokens: Mapping[str, int], max_epochs: float, seen: Mapping[str, int]
) -> dict[str, Fraction]:
    epochs = _exact(max_epochs)
    return {
        name: max(epochs * count - seen.get(name, 0), Fraction(0)) for name, count in domain_tokens.items()
    }


def _too_little(
    limits: Mapping[str, Fraction],
    domain_tokens: Mapping[str, int],
    total_tokens: int,
    max_epochs: float,
    seen: Mapping[str, int],
) -> RecipeError:
    possible = math.floor(sum(limits.values()))
    text = sum(domain_tokens[name] for name in limits)
    needed = total_tokens + sum(seen.get(name, 0) for name in limits)
    enough = math.ceil(Fraction(100 * needed, max(text, 1))) / 100
    of = "all text" if set(limits) == set(domain_tokens) else f"the text of {', '.join(sorted(limits))}"
    what, fewer = (
        f"train.tokens = {total_tokens} ({human(total_tokens)}) is",
        "Set train.tokens to at most that",
    )
    left = "give"
    if seen:
        what, fewer = (
            f"{total_tokens} tokens ({human(total_tokens)}) of a stage are",
            "Make the stage shorter",
        )
        left = "leave after the stages before it"
    return RecipeError(
        f"{what} more than mixture.max_epochs = {max_epochs:g} passes over {of} {left}: {possible} "
        f"({human(possible)}). {fewer}, raise mixture.max_epochs to {enough:g}, or add text"
    )


def _exact(number: float | Fraction) -> Fraction:
    """The decimal number as it is written: 0.1 is a tenth."""
    return number if isinstance(number, Fraction) else Fraction(repr(float(number)))


def _normalised(weights: Mapping[str, Fraction]) -> dict[str, float]:
    total = sum(weights.values())
    return {name: float(weights[name] / total) for name in sorted(weights)}
