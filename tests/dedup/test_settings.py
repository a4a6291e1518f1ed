"""What the deduplication tables refuse."""

import pytest
from pydantic import ValidationError

from danlu.dedup.settings import Boilerplate, Decontaminate, Exact, MinHash, Substrings


@pytest.mark.parametrize("section", [Exact, MinHash, Substrings, Boilerplate])
def test_refuses_unknown_keys(section):
    with pytest.raises(ValidationError, match="Extra inputs"):
        section(ignore_case=True)


@pytest.mark.parametrize(
    ("section", "keys", "words"),
    [
        (Exact, {"min_characters": 5}, "has no effect"),
        (Exact, {"unit": "word"}, "Input should be"),
        (MinHash, {"threshold": 0.8, "bands": 20}, "threshold solves bands"),
        (MinHash, {"threshold": 0.8, "rows": 4}, "threshold solves rows"),
        (MinHash, {"hashes": 64}, "without threshold"),
        (MinHash, {"threshold": 1.0}, "less than 1"),
        (Substrings, {"min_words": 1}, "greater than or equal to 2"),
        (Boilerplate, {"min_documents": 1}, "greater than or equal to 2"),
        (Decontaminate, {"against": []}, "at least 1 item"),
        (Decontaminate, {"against": ["x"], "unit": "tokens"}, "belong together"),
        (Decontaminate, {"against": ["x"], "tokenizer": "t.json"}, "belong together"),
        (Decontaminate, {"against": ["x"], "action": "cut", "max_share": 0.5}, "has no effect"),
    ],
)
def test_refuses(section, keys, words):
    with pytest.raises(ValidationError, match=words):
        section(**keys)


def test_a_resolved_table_can_be_read_again():
    solved = MinHash(threshold=0.8, hashes=64)
    assert MinHash.model_validate(solved.model_dump()) == solved
