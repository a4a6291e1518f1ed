from __future__ import annotations

import pytest
from pydantic import ValidationError

from danlu.model.settings import ModelSettings


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"size": "1M", "width": 64}, "contradict"),
        ({"width": 64}, "needs width, layers and heads"),
        ({"kv_heads": 2}, "needs width, layers and heads"),
        ({"size": "1M", "layer": 2}, "extra"),
    ],
)
def test_refuses(keys: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ModelSettings.model_validate(keys)
