"""What `use = "exact"` refuses."""

import pytest
from pydantic import ValidationError

from danlu.dedup.settings import Exact


def test_refuses_unknown_keys():
    with pytest.raises(ValidationError, match="Extra inputs"):
        Exact(ignore_case=True)
