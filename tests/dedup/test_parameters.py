"""The curve that finds pairs, and the division that a threshold asks for."""

import numpy as np
import pytest

from danlu.dedup.parameters import division, found_share, solve
from danlu.dedup.settings import MinHash


def test_the_published_curve():
    assert found_share(np.array([0.8, 0.0, 1.0]), 14, 8) == pytest.approx([0.9235, 0.0, 1.0], abs=1e-3)


def test_given_or_solved():
    assert division(MinHash()) == (14, 8)
    assert division(MinHash(bands=20, rows=13)) == (20, 13)
    assert division(MinHash(threshold=0.7)) == solve(0.7, 112)


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.5, 0.72, 0.8, 0.9, 0.99])
@pytest.mark.parametrize("hashes", [1, 2, 16, 112])
def test_no_other_division_is_nearer(threshold, hashes):
    similarity = (np.arange(1000) + 0.5) / 1000

    def error(bands, rows):
        found = found_share(similarity, bands, rows)
        return np.where(similarity < threshold, found, 1 - found).mean()

    bands, rows = solve(threshold, hashes)
    assert bands * rows <= hashes
    others = [(b, r) for b in range(1, hashes + 1) for r in range(1, hashes // b + 1)]
    assert error(bands, rows) <= min(error(*other) for other in others) + 1e-9


def test_the_rise_follows_the_threshold():
    rises = [(1 / b) ** (1 / r) for b, r in (solve(threshold, 112) for threshold in (0.3, 0.5, 0.7, 0.9))]
    assert rises == sorted(rises)
    assert rises == pytest.approx([0.3, 0.5, 0.7, 0.9], abs=0.1)
