"""What [objective] refuses."""

import pytest
from pydantic import ValidationError

from danlu.objective.settings import ObjectiveSettings


def test_default_is_causal():
    assert ObjectiveSettings().weights == {"causal": 1.0}


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({"fim": 1.0}, "not supported yet"),
        ({"casual": 1.0}, "did you mean 'causal'"),
        ({"causal": 0.5}, "only"),
    ],
)
def test_refuses(weights, said):
    with pytest.raises(ValidationError, match=said):
        ObjectiveSettings(weights=weights)
