"""What `[corpus]` refuses."""

import pytest
from pydantic import ValidationError

from danlu.corpus.settings import CorpusSettings

SOURCE = {"domain": "d", "paths": ["*.txt"]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source": []}, "at least 1"),
        ({"validation_share": 1.0}, "less than 1"),
        ({"step": [{"use": "exact"}, {"use": "exact"}]}, "'exact' is listed twice"),
        ({"step": [{"use": "minhesh"}]}, "minhesh"),
        ({"slurm": {"memory": "8G"}}, "slurm has no effect"),
        ({"max_document_bytes": "20Q"}, "is not a size"),
    ],
)
def test_refuses_a_corpus_that_cannot_be(change, message):
    with pytest.raises(ValidationError, match=message):
        CorpusSettings(**{"source": [SOURCE], **change})


def test_the_default_steps_are_the_documented_ones():
    assert [step.use for step in CorpusSettings(source=[SOURCE]).step] == [
        "normalize",
        "length",
        "repetition",
        "exact",
    ]
