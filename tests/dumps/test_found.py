"""What a reader of dumps yields."""

import pytest

from danlu.dumps.found import Article, Broken


def test_they_are_values():
    assert Article("1", 0, 9, b"{}") == Article("1", 0, 9, b"{}", {}, "")
    assert Broken("malformed", 3, 4) == Broken("malformed", 3, 4, "")
    with pytest.raises(AttributeError):
        Article("1", 0, 9, b"{}").id = "2"
