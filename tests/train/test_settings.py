"""[train]: one length, and sizes that divide; a wrong one names the nearest valid one."""

import pytest
from pydantic import ValidationError

from danlu.train.settings import TrainSettings


def test_sizes_may_be_written_with_units() -> None:
    settings = TrainSettings(tokens="2M", sequence_length="1024", batch_tokens=65_536)
    assert (settings.tokens, settings.batch_sequences) == (2_000_000, 64)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 3, "minutes": 1}, "steps and minutes contradict"),
        ({}, "none is given"),
        ({"steps": 3, "sequence_length": 100, "batch_tokens": 1050}, "nearest: 1000 or 1100"),
        ({"steps": 3, "sequence_length": 100, "batch_tokens": 50}, "nearest: 100"),
        ({"steps": 3, "sequence_length": 64, "batch_tokens": 768, "micro_batch": 5}, "nearest: 4"),
    ],
    ids=str,
)
def test_refusals_name_the_nearest(changes: dict[str, int], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        TrainSettings(**changes)
