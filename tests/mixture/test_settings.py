"""What [mixture] refuses, and that it is shared out in one way only."""

from itertools import combinations

import pytest
from pydantic import ValidationError

from danlu.mixture.settings import WAYS, MixtureSettings

ONE_OF_EACH = {
    "weights": {"a": 1.0},
    "temperature": 2.0,
    "method": "unimax",
    "preset": "llama3",
    "upsample": {"a": 2.0},
}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"weights": {"a": 0.0}}, "every weight is 0"),
        ({"weights": {"a": -1.0, "b": 1.0}}, "'a' is -1.0; it must be 0"),
        ({"weights": {"a": float("inf")}}, "weights.a"),
        ({"weights": {"a": float("nan")}}, "weights"),
        ({"upsample": {"a": 0.0}}, "'a' is 0.0; it must be above 0"),
        ({"upsample": {"a": float("nan")}}, "upsample"),
        ({"temperature": 0.0}, "greater than 0"),
        ({"method": "doremi"}, "unimax"),
        ({"preset": "lama3"}, "'llama1', 'llama3'"),
        ({"max_epochs": 0.0}, "greater than 0"),
    ],
    ids=str,
)
def test_refuses(keys, said):
    with pytest.raises(ValidationError, match=said):
        MixtureSettings(**keys)


def test_ways():
    assert set(ONE_OF_EACH) == set(WAYS)
    for way in WAYS:
        assert MixtureSettings(**{way: ONE_OF_EACH[way]}).is_changed(way)
    for pair in combinations(WAYS, 2):
        with pytest.raises(ValidationError, match=f"{pair[0]} and {pair[1]} contradict"):
            MixtureSettings(**{way: ONE_OF_EACH[way] for way in pair})


def test_a_resolved_recipe_names_every_key():
    settings = MixtureSettings(weights={"a": 1.0, "b": 0.0}, max_epochs=2.0)
    assert MixtureSettings(**settings.model_dump()) == settings
