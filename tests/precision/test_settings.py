from __future__ import annotations

import pytest
from pydantic import ValidationError

from danlu.precision.settings import PrecisionSettings


def test_refuses_what_it_does_not_know() -> None:
    with pytest.raises(ValidationError):
        PrecisionSettings.model_validate({"kind": "fp7"})
