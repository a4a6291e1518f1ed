"""[train]: one length, and sizes that divide; a wrong one names the nearest valid one."""

import pytest
from pydantic import ValidationError

from danlu.train.settings import TrainSettings


def test_sizes_may_be_written_with_units() -> None:
    settings = TrainSettings(tokens="2M", sequence_length="1024", batch_tokens=65_536)
    assert (settings.tokens, settings.sequence_length) == (2_000_000, 1024)


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


@pytest.mark.parametrize(
    ("written", "length", "batch"),
    [
        ("64K", 1024, 64_512),
        ("64k", "1024", 64_512),
        (" 8.2K ", 256, 8192),
        ("1M", 300, 999_900),
        ("10K", 100, 10_000),
        ("1K", 1900, 1900),
    ],
)
def test_a_size_with_a_unit_means_the_nearest_whole_sequences(written, length, batch) -> None:
    settings = TrainSettings(steps=3, sequence_length=length, batch_tokens=written)
    assert settings.batch_tokens == batch
    assert (repr(written) in settings.rounding) == (batch != 10_000)
    again = TrainSettings(**settings.model_dump())
    assert (again.batch_tokens, again.rounding) == (batch, "")


@pytest.mark.parametrize("written", [64_000, "64000", "1K"])
def test_an_exact_size_or_one_too_small_is_not_rounded(written) -> None:
    with pytest.raises(ValidationError, match="not a multiple of sequence_length = 3072; nearest"):
        TrainSettings(steps=3, sequence_length=3072, batch_tokens=written)


@pytest.mark.parametrize(
    "changes", [{"batch_tokens": "lotsK"}, {"sequence_length": "x"}, {"sequence_length": True}]
)
def test_what_is_no_size_is_refused_at_its_key(changes) -> None:
    with pytest.raises(ValidationError):
        TrainSettings(**{"steps": 3, "batch_tokens": "64K", **changes})
