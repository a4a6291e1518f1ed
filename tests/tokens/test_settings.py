"""What [tokens] and [mixture] refuse."""

import pytest
from pydantic import ValidationError

from danlu.mixture.settings import MixtureSettings
from danlu.tokens.settings import TokensSettings


@pytest.mark.parametrize(
    ("model", "keys", "said"),
    [
        (TokensSettings, {"packing": "first_fit"}, "best_fit.*greedy"),
        (TokensSettings, {"document_mask": False}, "reset_positions"),
        (MixtureSettings, {"weights": {"a": 0.0}}, "above 0"),
        (MixtureSettings, {"weights": {"a": -1.0}}, "above 0"),
        (MixtureSettings, {"weights": {"a": float("inf")}}, "weights.a"),
        (MixtureSettings, {"weights": {"a": float("nan")}}, "weights"),
        (MixtureSettings, {"weights": {"a": 1.0}, "temperature": 2.0}, "contradict"),
        (MixtureSettings, {"max_epochs": 0.0}, "greater than 0"),
    ],
)
def test_refuses(model, keys, said):
    with pytest.raises(ValidationError, match=said):
        model(**keys)
