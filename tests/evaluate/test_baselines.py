"""Order-0 and bigram against counts written out byte by byte; xz against `xz -9` itself."""

import lzma
import math
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.errors import InputError
from danlu.evaluate import baselines as module
from danlu.evaluate.baselines import baselines, compare, count_pairs, xz_bytes


def slow_order0(train: bytes, validation: bytes) -> float:
    counts = Counter(train)
    return sum(-math.log2((counts[b] + 0.5) / (len(train) + 128)) for b in validation) / len(validation)


def slow_bigram(train: bytes, validation: bytes) -> float:
    pairs = Counter(pairwise(train))
    before = Counter(train[:-1])
    singles = Counter(train)
    bits = -math.log2((singles[validation[0]] + 0.5) / (len(train) + 128))
    for a, b in pairwise(validation):
        bits -= math.log2((pairs[a, b] + 0.5) / (before[a] + 128))
    return bits / len(validation)


@given(st.binary(min_size=1, max_size=200), st.binary(min_size=1, max_size=200))
def test_equal_to_the_slow_count(train, validation):
    found = baselines(train, validation)
    assert found["order0"] == pytest.approx(slow_order0(train, validation))
    assert found["bigram"] == pytest.approx(slow_bigram(train, validation))


@pytest.mark.parametrize("chunk", [1, 2, 7, 64])
def test_no_pair_is_lost_between_chunks(monkeypatch, chunk):
    data = bytes(range(60)) * 3 + b"end"
    whole = count_pairs(data)
    monkeypatch.setattr(module, "_CHUNK_BYTES", chunk)
    assert (count_pairs(data) == whole).all()
    assert whole.sum() == len(data) - 1


def test_a_pattern_is_learnt():
    found = baselines(b"ab" * 5000, b"ab" * 5000)
    assert found["bigram"] < 0.05
    assert found["order0"] == pytest.approx(1.0, abs=0.05)
    assert list(found) == ["order0", "bigram", "xz"]


def test_xz_is_as_good_as_preset_nine():
    data = b"".join(f"{i} {i * i % 97} the furnace\n".encode() for i in range(3000))
    assert abs(xz_bytes(data) - len(lzma.compress(data, preset=9))) <= 8
    assert xz_bytes(b"a") > 0


def test_no_text_is_an_error():
    with pytest.raises(InputError, match="no training text"):
        baselines(b"", b"x")
    with pytest.raises(InputError, match="no validation text"):
        baselines(b"x", b"")


def test_the_comparison_is_plain():
    simple = {"order0": 4.7, "bigram": 3.5, "xz": 2.0}
    assert compare(1.9, simple) == "beats order-0 (4.70), bigram (3.50) and xz -9 (2.00)"
    assert compare(2.3, simple) == "beats order-0 (4.70) and bigram (3.50), but not xz -9 (2.00)"
    assert compare(4.0, simple) == "beats order-0 (4.70), but not bigram (3.50) or xz -9 (2.00)"
    assert compare(9.0, simple) == "does not beat order-0 (4.70), bigram (3.50) or xz -9 (2.00)"
    assert compare(math.nan, {"xz": 2.0}) == "does not beat xz -9 (2.00)"
