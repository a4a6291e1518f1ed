"""The most common numbers are exact where there are few, and within the promised error where there are many."""

from collections import Counter

import numpy as np
import pytest

from danlu.account.most_common import MostCommon


@pytest.mark.parametrize("limit", [1, 2, 7, 64, 1000])
@pytest.mark.parametrize("distinct", [1, 5, 300])
def test_the_most_common(limit: int, distinct: int):
    rng = np.random.default_rng(limit * distinct)
    numbers = np.minimum(rng.geometric(0.05, 5_000), distinct).astype(np.int64) << 32
    counted = MostCommon(limit)
    for part in np.array_split(numbers, 37):
        counted.add(part)
    exact = Counter(numbers.tolist())
    expected = sorted(exact, key=lambda number: (-exact[number], number))
    found = counted.largest(3)
    assert counted.lost <= len(numbers) / (limit / 2)
    if len(exact) <= limit:
        assert counted.lost == 0
        assert found.tolist() == expected[:3]
    else:
        missed = max((exact[number] for number in expected if number not in found), default=0)
        assert (
            missed <= counted.lost or missed <= min(exact[number] for number in found.tolist()) + counted.lost
        )


def test_nothing_has_no_most_common():
    assert MostCommon().largest(3).tolist() == []
