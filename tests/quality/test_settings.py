"""What the steps refuse."""

import pytest
from pydantic import ValidationError

from danlu.quality.settings import Length, Normalize, Repetition


@pytest.mark.parametrize(
    ("section", "values", "message"),
    [
        (Length, {"min_characters": 9, "max_characters": 8}, "min_characters is above max_characters"),
        (Length, {"min_chars": 9}, "Extra inputs"),
        (Normalize, {"unicode": "NFD"}, "NFC"),
        (Repetition, {"max_character_share": 1.5}, "less than or equal to 1"),
    ],
)
def test_refuses_what_cannot_be_meant(section, values, message):
    with pytest.raises(ValidationError, match=message):
        section(**values)
