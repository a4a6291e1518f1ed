"""Length in characters, white space around the text not counted."""

import pytest

from danlu.quality.length import decide, measure
from danlu.quality.settings import Length
from danlu.words.text import Text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("四个汉字", ""),
        ("abc", "too_short"),
        ("  abc \n", "too_short"),
        ("a" * 6, ""),
        ("a" * 7, "too_long"),
    ],
)
def test_range_is_inclusive(text, reason):
    settings = Length(min_characters=4, max_characters=6)
    given = Text(text)
    measured = measure(given, settings)
    assert measured.text is given
    assert decide(measured.values, settings) == reason
