"""Kappa and alpha: published examples, values by hand, and brute force over all pairs of labels."""

import itertools
import math
import random

import pytest

from danlu.labels.agreement import cohen_kappa, describe, krippendorff_alpha, measure_agreement
from danlu.labels.store import Label

POINTS = (0, 1, 2, 3, 4, 5)

# Krippendorff (2011), "Computing Krippendorff's alpha-reliability", section C: four observers, twelve units.
OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)
UNITS = [[value for value in unit if value is not None] for unit in zip(*OBSERVERS, strict=True)]


@pytest.mark.parametrize(("metric", "wanted"), [("nominal", 0.743), ("ordinal", 0.815)])
def test_the_published_alpha(metric, wanted):
    assert krippendorff_alpha(UNITS, POINTS, metric) == pytest.approx(wanted, abs=5e-4)


def test_kappa_by_hand():
    # 50 documents: both keep 20, both drop 15, apart 5 and 10. Observed 0.7, by chance 0.5: kappa 0.4.
    pairs = [
        *[("keep", "keep")] * 20,
        *[("keep", "drop")] * 5,
        *[("drop", "keep")] * 10,
        *[("drop", "drop")] * 15,
    ]
    assert cohen_kappa(pairs, ("drop", "keep")) == pytest.approx(0.4)


def test_weighted_kappa_by_hand():
    # (0,0) (1,2) (2,2): mean square 1/3; of the nine crossings 0-0, 1-0, 2-0 and twice 0-2, 1-2, 2-2: 15/9.
    assert cohen_kappa([(0, 0), (1, 2), (2, 2)], POINTS, "ordinal") == pytest.approx(1 - (1 / 3) / (15 / 9))


def brute_alpha(units, metric):
    """Every ordered pair of labels within a unit against every ordered pair of all labels."""
    units = [unit for unit in units if len(unit) > 1]
    every = list(itertools.chain.from_iterable(units))

    def apart(a, b):
        if metric == "nominal":
            return float(a != b)
        low, high = sorted((a, b))
        inside = [value for value in every if low <= value <= high]
        return (len(inside) - (every.count(a) + every.count(b)) / 2) ** 2

    observed = sum(
        apart(*pair) / (len(unit) - 1) for unit in units for pair in itertools.permutations(unit, 2)
    )
    expected = sum(apart(*pair) for pair in itertools.permutations(every, 2))
    return 1 - (len(every) - 1) * observed / expected


@pytest.mark.parametrize("metric", ["nominal", "ordinal"])
@pytest.mark.parametrize("seed", range(8))
def test_alpha_against_brute_force(metric, seed):
    draw = random.Random(seed)
    units = [[draw.choice(POINTS) for _ in range(draw.randint(0, 4))] for _ in range(draw.randint(6, 25))]
    assert krippendorff_alpha(units, POINTS, metric) == pytest.approx(brute_alpha(units, metric), abs=1e-12)


@pytest.mark.parametrize("metric", ["nominal", "ordinal"])
def test_bounds(metric):
    assert krippendorff_alpha([(1, 1), (2, 2), (5, 5)], POINTS, metric) == 1.0
    assert cohen_kappa([(1, 1), (2, 2), (5, 5)], POINTS, metric) == 1.0
    assert cohen_kappa([(1, 5), (5, 1)] * 9, POINTS, metric) == pytest.approx(-1.0)
    for nothing in ([], [(3,)], [(3, 3), (3, 3)]):
        assert math.isnan(krippendorff_alpha(nothing, POINTS, metric))
    assert math.isnan(cohen_kappa([], POINTS, metric))
    assert math.isnan(cohen_kappa([(3, 3)], POINTS, metric))


def given(**labellers):
    """Who -> text -> label."""
    return {
        who: {
            text: Label(0, text, "a", text, value, who, "2026-01-02T03:04:05+00:00", "keep")
            for text, value in own.items()
        }
        for who, own in labellers.items()
    }


def test_a_report():
    found = measure_agreement(
        given(
            bob={"a": "keep", "b": "keep", "c": "drop", "d": "drop"},
            ann={"a": "keep", "b": "drop", "c": "drop"},
            eve={"z": "keep"},
        ),
        "keep",
    )
    (pair,) = found.pairs
    assert (pair.first, pair.second, pair.documents) == ("ann", "bob", 3)
    assert pair.alike == pytest.approx(2 / 3)
    assert found.documents == 3
    assert found.labels == {"ann": 3, "bob": 4, "eve": 1}
    assert list(describe(found)) == [
        "labels: ann 3, bob 4, eve 1",
        f"ann and bob: 3 documents, 67% alike, kappa {pair.kappa:.2f}",
        f"Krippendorff's alpha over 3 documents: {found.alpha:.2f}",
    ]


def test_a_report_of_little():
    assert next(describe(measure_agreement({}, "keep"))) == "labels: none yet"
    alone = list(describe(measure_agreement(given(ann={"a": "keep"}), "keep")))
    assert "a second labeller gets the same documents" in alone[1]
    same = list(describe(measure_agreement(given(ann={"a": "keep"}, bob={"a": "keep"}), "keep")))
    assert same[1].endswith("100% alike, kappa undefined (all labels are equal)")
