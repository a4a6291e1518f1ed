"""What `[plan]` refuses."""

import pytest
from pydantic import ValidationError

from danlu.plan.settings import PlanSettings


@pytest.mark.parametrize(
    "values", [{"min_tokens": 0}, {"max_tokens": -1}, {"min_tokens": "2M", "max_tokens": "1M"}, {"x": 1}]
)
def test_what_makes_no_sense_is_refused(values):
    with pytest.raises(ValidationError):
        PlanSettings(**values)


def test_sizes_may_have_units():
    assert PlanSettings(min_tokens="1M", max_tokens="2M").max_tokens == 2_000_000
