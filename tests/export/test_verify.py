"""A difference above 1e-4, another shape and not-a-number are refused; below it is reported."""

import numpy as np
import pytest

from danlu.errors import MismatchError
from danlu.export import verify
from danlu.export.verify import TOLERANCE, probe, verify_export


@pytest.fixture
def logits(monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    values = np.random.default_rng(0).normal(size=(20, 11))
    monkeypatch.setattr(verify, "forward", lambda _, ids: values[: len(ids)])
    return values


def test_the_largest_difference_is_returned(tmp_path, logits):
    off = logits.astype(np.float32)
    off[7, 3] -= 5e-5
    found = verify_export(tmp_path, 11, 0, 20, lambda _: off)
    assert found.tokens == 20
    assert found.max_difference == pytest.approx(5e-5, rel=1e-2)


@pytest.mark.parametrize("change", [2 * TOLERANCE, np.nan, np.inf])
def test_one_wrong_logit_is_refused(tmp_path, logits, change):
    off = logits.copy()
    off[19, 10] += change
    with pytest.raises(MismatchError, match="differ from the network's"):
        verify_export(tmp_path, 11, 0, 20, lambda _: off)


def test_another_shape_is_refused(tmp_path, logits):
    with pytest.raises(MismatchError, match=r"\(20, 11\), the network \(20, 10\)"):
        verify_export(tmp_path, 11, 0, 20, lambda _: logits[:, :10])


def test_the_probe_is_bounded_fixed_and_within_the_vocabulary(tmp_path, logits):
    ids = probe(11, 4, 20)
    assert ids[0] == 4
    assert ids.min() >= 0
    assert ids.max() < 11
    assert len(set(ids.tolist())) > 5
    np.testing.assert_array_equal(ids, probe(11, 4, 20))
    seen = []
    with pytest.raises(MismatchError):
        verify_export(tmp_path, 11, 0, 100_000, lambda ids: seen.append(len(ids)))
    assert seen == [256]
