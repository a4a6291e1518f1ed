"""What `[monitor]` refuses."""

import pytest
from pydantic import ValidationError

from danlu.monitor.settings import MonitorSettings


@pytest.mark.parametrize(
    "values",
    [{"log_every_steps": 0}, {"sample_tokens": 0}, {"sample_tokens": 9}, {"samples": "text"}, {"sample": []}],
)
def test_what_makes_no_sense_is_refused(values):
    with pytest.raises(ValidationError):
        MonitorSettings(**values)
