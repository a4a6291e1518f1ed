"""Quotas are exact at every prefix, an epoch shows every sample once, and 15T tokens fit in the arithmetic."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from danlu.errors import InputError
from danlu.mixture.weights import SHARE_UNIT, to_sample_shares
from danlu.tokens.order import Order, deficit_table


def offsets(*sizes):
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def largest_deficit(shares, count):
    """With fractions of a sample, one at a time."""
    counts, found = [0] * len(shares), []
    for n in range(count):
        deficits = [share * (n + 1) - done * sum(shares) for share, done in zip(shares, counts, strict=True)]
        best = deficits.index(max(deficits))
        found.append((best, counts[best]))
        counts[best] += 1
    return found


@given(shares=st.lists(st.integers(1, 40), min_size=1, max_size=7))
def test_table_equals_reference_and_ends_exactly(shares):
    domain_at, before = deficit_table(np.array(shares))
    assert list(zip(domain_at.tolist(), before.tolist(), strict=True)) == largest_deficit(shares, sum(shares))
    assert np.bincount(domain_at, minlength=len(shares)).tolist() == shares


@pytest.mark.parametrize(
    "weights",
    [
        {"a": 0.001, "b": 0.999},
        {"a": 0.999, "b": 0.001},
        {"a": 1.0},
        {"a": 0.3, "b": 0.3, "c": 0.4},
        {f"d{i:02d}": 1.0 + i for i in range(10)},
    ],
    ids=["light first", "heavy first", "one source", "three", "ten"],
)
def test_quotas_at_every_prefix(weights):
    shares = to_sample_shares(weights, dict.fromkeys(weights, 1.0))
    domain_at, before = deficit_table(np.array([shares[name] for name in sorted(shares)]))
    n = np.arange(SHARE_UNIT)
    for i, name in enumerate(sorted(shares)):
        counts = np.cumsum(domain_at == i)
        assert np.abs(counts - shares[name] * (n + 1) / SHARE_UNIT).max() < 2
        assert counts[-1] == shares[name]
        np.testing.assert_array_equal(before[domain_at == i], np.arange(shares[name]))


@given(
    shares=st.lists(st.integers(1, 12), min_size=1, max_size=4),
    groups=st.lists(st.integers(1, 9), min_size=1, max_size=5),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=40)
def test_every_epoch_shows_every_sample_once(shares, groups, seed):
    names = [f"d{i}" for i in range(len(shares))]
    table = {name: offsets(*groups[: 1 + i % len(groups)]) for i, name in enumerate(names)}
    order = Order(seed, dict(zip(names, shares, strict=True)), table)
    shown = {name: [] for name in names}
    for number in range(4 * order.period + 60):
        location = order.locate(number)
        sizes = table[location.domain]
        assert sizes[location.group] <= location.sample < sizes[location.group + 1]
        assert location.epoch == len(shown[location.domain]) // order.samples_of(location.domain)
        shown[location.domain].append(location.sample)
    for name, samples in shown.items():
        size = order.samples_of(name)
        for first in range(0, len(samples), size):
            epoch = samples[first : first + size]
            assert len(set(epoch)) == len(epoch)
            if len(epoch) == size:
                assert set(epoch) == set(range(size))
    counts = order.counts(4 * order.period + 60)
    assert counts == {name: len(samples) for name, samples in shown.items()}


def test_a_group_is_shown_whole_before_the_next():
    order = Order(3, {"a": 1}, {"a": offsets(5, 6, 7, 8)})
    groups = [order.locate(n).group for n in range(26)]
    assert len(list(itertools.groupby(groups))) == 4
    assert Counter(groups) == {0: 5, 1: 6, 2: 7, 3: 8}


def test_epochs_and_seeds_differ():
    def epoch(seed, number):
        order = Order(seed, {"a": 1}, {"a": offsets(50, 50)})
        return [order.locate(number * 100 + n).sample for n in range(100)]

    assert epoch(1, 0) == epoch(1, 0)
    assert epoch(1, 0) != epoch(1, 1)
    assert epoch(1, 0) != epoch(2, 0)


def test_pure_whatever_was_asked_before():
    def make():
        return Order(7, {"a": 3, "b": 2}, {"a": offsets(9, 4, 6), "b": offsets(5, 5)})

    in_turn = make()
    stream = [in_turn.locate(n) for n in range(400)]
    backwards = make()
    assert [backwards.locate(n) for n in reversed(range(400))] == stream[::-1]
    assert all(make().locate(n) == stream[n] for n in (0, 1, 57, 399))


def test_only_ratios_count():
    table = {"a": offsets(5), "b": offsets(7)}
    one, two = Order(1, {"a": 2, "b": 6}, table), Order(1, {"a": 1, "b": 3}, table)
    assert one.period == two.period == 4
    assert [one.locate(n) for n in range(50)] == [two.locate(n) for n in range(50)]


def test_fifteen_trillion_tokens():
    """3.66 billion samples of 4,096, 3.6 million groups of 1,024: 90 % from one domain, 7 epochs of the other."""
    groups = 3_576_278
    big = np.arange(groups + 1, dtype=np.int64) * 1024
    small = offsets(*[1024] * 50_000)
    shares = to_sample_shares({"web": 0.9, "code": 0.1}, {"web": 4096.0, "code": 4096.0})
    order = Order(1, shares, {"web": big, "code": small})
    total = 15 * 10**12 // 4096
    last = [order.locate(total - 1 - n) for n in range(200)]
    assert len({(where.domain, where.epoch, where.sample) for where in last}) == 200
    assert {where.epoch for where in last if where.domain == "web"} == {0}
    assert {where.epoch for where in last if where.domain == "code"} == {total // 10 // 51_200_000}
    counts = order.counts(total)
    assert sum(counts.values()) == total
    assert abs(counts["code"] - total * shares["code"] / SHARE_UNIT) < 2
    cycles = 2**62 // order.period
    assert order.counts(cycles * order.period) == {
        d: cycles * n for d, n in order.counts(order.period).items()
    }


def test_a_domain_without_samples():
    with pytest.raises(InputError, match="'a' has no sample"):
        Order(1, {"a": 1}, {"a": offsets()})
