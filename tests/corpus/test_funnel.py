"""The funnel: totals, order, JSON."""

import json

import pytest

from danlu.corpus.funnel import Count, Funnel, from_json
from danlu.errors import DamagedError

FUNNEL = Funnel(
    steps=("normalize", "length"),
    read={"code": Count(10, 1000), "prose": Count(5, 500)},
    dropped={
        "code": {"length.too_short": Count(2, 20), "normalize.empty": Count(1, 1)},
        "prose": {"length.too_short": Count(1, 9)},
    },
    damaged={"malformed_json": 3},
    kept={"train": {"code": Count(6, 900), "prose": Count(4, 480)}, "validation": {"code": Count(1, 70)}},
)


def test_totals():
    assert FUNNEL.total_read() == Count(15, 1500)
    assert list(FUNNEL.total_dropped().items()) == [
        ("normalize.empty", Count(1, 1)),
        ("length.too_short", Count(3, 29)),
    ]
    assert FUNNEL.total_kept() == Count(11, 1450)
    assert FUNNEL.total_kept("validation") == Count(1, 70)


def test_json_round_trip():
    assert from_json(json.loads(json.dumps(FUNNEL.to_json()))) == FUNNEL


@pytest.mark.parametrize("value", [None, [], {}, {**FUNNEL.to_json(), "read": {"code": 3}}])
def test_another_file_is_not_a_funnel(value):
    with pytest.raises(DamagedError, match="build the corpus again"):
        from_json(value)
