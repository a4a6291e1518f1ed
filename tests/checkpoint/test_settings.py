"""What `[checkpoint]` refuses."""

import pytest
from pydantic import ValidationError

from danlu.checkpoint.settings import CheckpointSettings


@pytest.mark.parametrize(
    "values",
    [
        {"keep_last": 0},
        {"every_steps": -1},
        {"every_minutes": -1.0},
        {"keep_every_steps": -5},
        {"every_step": 5},
    ],
)
def test_what_makes_no_sense_is_refused(values):
    with pytest.raises(ValidationError):
        CheckpointSettings(**values)


def test_tokens_may_have_a_unit():
    assert CheckpointSettings(every_tokens="25M").every_tokens == 25_000_000
