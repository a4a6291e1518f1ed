"""What a `[[corpus.source]]` refuses."""

import pytest
from pydantic import ValidationError

from danlu.read.settings import Source


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "jsnl"}, "did you mean 'jsonl'"),
        ({"encoding": "utf-99"}, "no encoding 'utf-99'"),
        ({"document": ""}, "an empty separator splits nowhere"),
        ({"domain": "a/b"}, "pattern"),
        ({"paths": []}, "at least 1"),
        ({"path": ["x"]}, "Extra inputs"),
    ],
)
def test_refuses_a_source_that_cannot_work(change, message):
    with pytest.raises(ValidationError, match=message):
        Source(**{"domain": "prose", "paths": ["*.txt"], **change})
