"""How far labellers agree beyond chance: Cohen's kappa of each two, Krippendorff's alpha of all.

Decides: points from 0 to 5 are ordinal, keep and drop are names. What one labeller alone has labelled says nothing.
Where every label is the same, chance alone would agree as well: the value is not a number. Costs: nothing to speak of.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from danlu.labels.settings import Scale
from danlu.labels.store import VALUES, Label, Value

Metric = Literal["nominal", "ordinal"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two labellers, how many documents both have labelled, the share that they labelled alike, and Cohen's kappa."""

    first: str
    second: str
    documents: int
    alike: float
    kappa: float
    """On points: weighted by squared differences (Cohen 1968)."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """`alpha` is over the documents that at least two labelled."""

    scale: Scale
    labels: Mapping[str, int]
    """Of each labeller."""
    documents: int
    alpha: float
    pairs: tuple[Pair, ...]


def measure_agreement(given: Mapping[str, Mapping[str, Label]], scale: Scale) -> Agreement:
    """The agreement of labels that stand: who -> text hash -> label."""
    values: dict[str, dict[str, Value]] = {
        who: {key: label.label for key, label in own.items() if label.label is not None}
        for who, own in sorted(given.items())
    }
    units: dict[str, list[Value]] = {}
    for own in values.values():
        for key, value in own.items():
            units.setdefault(key, []).append(value)
    shared = [unit for unit in units.values() if len(unit) > 1]
    metric: Metric = "ordinal" if scale == "0-5" else "nominal"
    return Agreement(
        scale,
        {who: len(own) for who, own in values.items()},
        len(shared),
        krippendorff_alpha(shared, VALUES[scale], metric),
        tuple(_pairs(values, scale, metric)),
    )


def describe(agreement: Agreement) -> Iterator[str]:
    """What the figures say, as lines."""
    counts = ", ".join(f"{who} {count:,}" for who, count in agreement.labels.items())
    yield f"labels: {counts or 'none yet'}"
    if not agreement.documents:
        yield "agreement: no document has labels of two; a second labeller gets the same documents with another --name"
        return
    for pair in agreement.pairs:
        kappa = "kappa" if agreement.scale == "keep" else "kappa (squared weights)"
        yield (
            f"{pair.first} and {pair.second}: {pair.documents:,} documents, {pair.alike:.0%} alike, "
            f"{kappa} {_spell(pair.kappa)}"
        )
    yield f"Krippendorff's alpha over {agreement.documents:,} documents: {_spell(agreement.alpha)}"


def cohen_kappa(
    pairs: Sequence[tuple[Value, Value]], values: Sequence[Value], metric: Metric = "nominal"
) -> float:
    """1 - observed / expected disagreement of two labellers; NaN where chance cannot disagree or there are no pairs.

    Nominal: Cohen (1960). Ordinal: squared differences of the places in `values` (Cohen 1968).
    """
    place = {value: number for number, value in enumerate(values)}
    first, second = (Counter(place[pair[side]] for pair in pairs) for side in (0, 1))
    observed = sum(_cost(place[one], place[other], metric) for one, other in pairs) * len(pairs)
    expected = sum(
        count * other_count * _cost(one, other, metric)
        for one, count in first.items()
        for other, other_count in second.items()
    )
    return 1.0 - observed / expected if expected else math.nan


def krippendorff_alpha(
    units: Sequence[Sequence[Value]], values: Sequence[Value], metric: Metric = "nominal"
) -> float:
    """1 - observed / expected disagreement of any number of labellers (Krippendorff 2011, sections C and D).

    `units`: what was said of each document, by whoever labelled it; those with fewer than two labels do not count. NaN
    where all labels are equal or none is paired.
    """
    place = {value: number for number, value in enumerate(values)}
    paired = [[place[value] for value in unit] for unit in units if len(unit) > 1]
    totals = Counter(value for unit in paired for value in unit)
    count = sum(totals.values())
    distance = _distances(totals, len(values), metric)
    observed = 0.0
    for unit in paired:
        counts = Counter(unit)
        apart = sum(counts[a] * counts[b] * distance[a][b] for a in counts for b in counts)
        observed += apart / (len(unit) - 1)
    expected = sum(totals[a] * totals[b] * distance[a][b] for a in totals for b in totals)
    return 1.0 - (count - 1) * observed / expected if expected else math.nan


def _distances(totals: Counter[int], size: int, metric: Metric) -> list[list[float]]:
    """Squared differences of values: of ordinal ones by how many labels lie between."""
    if metric == "nominal":
        return [[float(a != b) for b in range(size)] for a in range(size)]
    between = [
        [
            sum(totals[g] for g in range(min(a, b), max(a, b) + 1)) - (totals[a] + totals[b]) / 2
            for b in range(size)
        ]
        for a in range(size)
    ]
    return [[value**2 for value in row] for row in between]


def _cost(one: int, other: int, metric: Metric) -> float:
    return float(one != other) if metric == "nominal" else float((one - other) ** 2)


def _pairs(values: Mapping[str, Mapping[str, Value]], scale: Scale, metric: Metric) -> Iterator[Pair]:
    for first, second in combinations(values, 2):
        both = [(value, values[second][key]) for key, value in values[first].items() if key in values[second]]
        if both:
            alike = sum(one == other for one, other in both) / len(both)
            yield Pair(first, second, len(both), alike, cohen_kappa(both, VALUES[scale], metric))


def _spell(value: float) -> str:
    return "undefined (all labels are equal)" if math.isnan(value) else f"{value:.2f}"
