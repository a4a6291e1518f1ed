"""What `[evaluate]` refuses."""

import pytest
from pydantic import ValidationError

from danlu.evaluate.settings import EvaluateSettings


def test_sizes_may_have_units():
    assert EvaluateSettings.model_validate({"max_tokens": "64K"}).max_tokens == 64_000
    assert EvaluateSettings(every_steps=0).every_steps == 0


@pytest.mark.parametrize(
    "wrong", [{"every_steps": -1}, {"max_tokens": 0}, {"every_steps": 0, "max_tokens": 9}, {"every": 3}]
)
def test_refusals(wrong):
    with pytest.raises(ValidationError):
        EvaluateSettings.model_validate(wrong)
