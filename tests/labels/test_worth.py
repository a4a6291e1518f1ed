"""Learning curves with known answers: a power law is found again, a flat one asks for nothing, noise is shown."""

import math

import numpy as np
import pytest

from danlu.labels.worth import (
    LEAST_LABELS,
    Example,
    Fit,
    describe,
    fit_power_law,
    measure_worth,
    rate_interval,
)
from danlu.rng import hash_text

EXAMPLES = [Example(f"text {number}", float(number % 2)) for number in range(400)]


@pytest.mark.parametrize("wanted", [Fit(0.05, 1.0, 0.5), Fit(0.0, 0.5, 0.35), Fit(0.2, 3.0, 1.0)])
def test_a_power_law_is_found_again(wanted):
    counts = np.array([37.0, 75.0, 150.0, 300.0, 600.0])
    found = fit_power_law(counts, np.array([wanted.at(count) for count in counts]))
    assert found == pytest.approx(wanted, abs=1e-6)


def test_a_curve_that_rises_or_stays_is_level():
    counts = np.array([10.0, 20.0, 40.0, 80.0])
    for errors in ([0.3, 0.3, 0.3, 0.3], [0.1, 0.2, 0.3, 0.4]):
        found = fit_power_law(counts, np.array(errors))
        assert found.at(1e6) == pytest.approx(np.mean(errors))


def test_the_fit_is_the_best_of_its_grid():
    rng = np.random.default_rng(3)
    counts = np.array([20.0, 40.0, 80.0, 160.0])
    errors = 0.1 + counts**-0.5 + rng.normal(0, 0.02, 4)
    found = fit_power_law(counts, errors)
    loss = ((np.array([found.at(count) for count in counts]) - errors) ** 2).sum()
    for exponent in (0.1, 0.35, 0.5, 1.0):
        for floor in np.linspace(0, 0.4, 41):
            for scale in np.linspace(0, 3, 61):
                other = ((floor + scale * counts**-exponent - errors) ** 2).sum()
                assert loss <= other + 1e-12


def test_how_many_more():
    seen = []

    def evaluate(train, test):
        seen.append((len(train), len(test)))
        assert not {one.text for one in train} & {one.text for one in test}
        return 0.02 + len(train) ** -0.5

    found = measure_worth(EXAMPLES, evaluate, worth_gain=0.005, repeats=2)
    assert found.counts == (38, 53, 75, 106, 150, 212, 300)
    assert seen == [(count, 100) for count in found.counts] * 2
    assert found.gain == pytest.approx(300**-0.5 - 600**-0.5, abs=1e-6)
    assert found.gain_low == pytest.approx(found.gain_high)
    # 400, 800 and 1600 gain 0.0146, 0.0104 and 0.0073 when they are doubled, 3200 gains 0.0052, 6400 0.0037.
    assert found.more == 6400 - 400
    assert (
        list(describe(found))[-1] == "worth giving: about 6,000 more, until a doubling gains less than 0.005"
    )


def test_a_learned_out_scorer_asks_for_nothing():
    found = measure_worth(EXAMPLES, lambda train, test: 0.1)
    assert (found.gain, found.more) == (0.0, 0)
    assert list(describe(found))[-1].startswith("no more are worth giving")


def test_single_runs_show_the_spread():
    runs = iter([0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2, *[0.5] * 7])
    found = measure_worth(EXAMPLES, lambda train, test: next(runs), repeats=2)
    assert found.gain_low == 0.0
    assert found.gain_high > 0.04


def test_too_few_labels_say_nothing():
    few = EXAMPLES[: LEAST_LABELS - 1]
    assert measure_worth(few, lambda train, test: 0.1) is None
    assert measure_worth(EXAMPLES, lambda train, test: math.nan) is None
    assert "cannot be told yet" in next(describe(None))
    found = measure_worth(EXAMPLES, lambda train, test: math.nan if len(train) < 100 else 0.1)
    assert found.counts == (106, 150, 212, 300)


def test_the_same_seed_holds_out_the_same():
    def evaluate(train, test):
        return sum(hash_text(one.text) % 97 for one in train) % 97 / 97

    first, again, other = (measure_worth(EXAMPLES, evaluate, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [(8, 10, 0.4902, 0.9433), (0, 10, 0.0, 0.2775), (50, 100, 0.4038, 0.5962), (0, 0, 0.0, 1.0)],
)
def test_wilson(count, total, low, high):
    assert rate_interval(count, total) == pytest.approx((low, high), abs=1e-4)


def test_no_share_is_above_one():
    with pytest.raises(ValueError, match="5 of 3"):
        rate_interval(5, 3)
