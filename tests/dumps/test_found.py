"""What a reader of dumps yields."""

import pytest

from danlu.dumps.found import Broken, Found


def test_they_are_values():
    assert Found("1", 0, 9, b"{}") == Found("1", 0, 9, b"{}", {})
    assert Broken("malformed", 3, 4) == Broken("malformed", 3, 4, "")
    with pytest.raises(AttributeError):
        Found("1", 0, 9, b"{}").id = "2"
