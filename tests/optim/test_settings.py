from __future__ import annotations

import pytest
from pydantic import BaseModel, ValidationError

from danlu.optim.settings import LossSettings, OptimizerSettings, ScheduleSettings


@pytest.mark.parametrize(
    ("section", "keys", "message"),
    [
        (OptimizerSettings, {"momentum": 0.9}, "has no effect"),
        (OptimizerSettings, {"matrix_learning_rate": 0.02}, "has no effect"),
        (OptimizerSettings, {"betas": [0.9, 1.0]}, "below 1"),
        (ScheduleSettings, {"kind": "cosine", "decay_share": 0.1}, "has no effect"),
        (ScheduleSettings, {"kind": "constant", "final_ratio": 0.1}, "has no effect"),
        (LossSettings, {"label_smoothing": 1.0}, "less than 1"),
    ],
)
def test_refuses(section: type[BaseModel], keys: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        section.model_validate(keys)
