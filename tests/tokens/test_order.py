"""Quotas are exact at every prefix, also of 15T tokens."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.mixture.weights import SHARE_UNIT, to_sample_shares
from danlu.tokens.order import Order, deficit_table


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


@given(shares=st.lists(st.integers(1, 12), min_size=1, max_size=4), total=st.integers(0, 200))
def test_locations_count_up_and_counts_agree(shares, total):
    order = Order({f"d{i}": share for i, share in enumerate(shares)})
    shown = dict.fromkeys(order.domains, 0)
    for number in range(total):
        domain, before = order.locate(number)
        assert before == shown[domain]
        shown[domain] += 1
    assert order.counts(total) == shown


def test_only_ratios_count():
    one, two = Order({"a": 2, "b": 6}), Order({"a": 1, "b": 3})
    assert one.period == two.period == 4
    assert [one.locate(n) for n in range(50)] == [two.locate(n) for n in range(50)]


def test_fifteen_trillion_tokens():
    shares = to_sample_shares({"web": 0.9, "code": 0.1}, {"web": 4096.0, "code": 4096.0})
    order = Order(shares)
    total = 15 * 10**12 // 4096
    counts = order.counts(total)
    assert sum(counts.values()) == total
    assert abs(counts["code"] - total * shares["code"] / SHARE_UNIT) < 2
    domain, before = order.locate(total)
    assert before == counts[domain]
    cycles = 2**62 // order.period
    assert order.counts(cycles * order.period) == {
        d: cycles * n for d, n in order.counts(order.period).items()
    }
