from __future__ import annotations

import pytest
from pydantic import ValidationError

from danlu.jobs.settings import Slurm


def test_the_cluster_decides_what_is_not_said() -> None:
    assert Slurm() == Slurm(partition="", account="", time="", memory="4G")


@pytest.mark.parametrize("key", ["time", "memory"])
def test_what_slurm_would_not_read_is_refused(key: str) -> None:
    with pytest.raises(ValidationError):
        Slurm.model_validate({key: "4 hours"})
