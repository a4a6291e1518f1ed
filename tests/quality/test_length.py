"""Length in characters, white space around the text not counted."""

import pytest

from danlu.quality.length import check_length
from danlu.quality.settings import Length
from danlu.quality.verdict import Dropped, Kept


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("四个汉字", None),
        ("abc", "length.too_short"),
        ("  abc \n", "length.too_short"),
        ("a" * 6, None),
        ("a" * 7, "length.too_long"),
    ],
)
def test_range_is_inclusive(text, reason):
    settings = Length(min_characters=4, max_characters=6)
    assert check_length(text, settings) == (Dropped(reason) if reason else Kept(text))
