"""What a batch system must be told about the tasks: the keys are those of Slurm's `sbatch`, and optional."""

from __future__ import annotations

from pydantic import Field

from danlu.config import Section


class Slurm(Section):
    """The options of `sbatch` for one task on one core; an empty text leaves the cluster's own default."""

    partition: str = ""
    account: str = ""
    time: str = Field(default="", pattern=r"^[\d:\-]*$")
    """The longest that one task may take, as Slurm writes it: "04:00:00", "1-12:00:00"."""
    memory: str = Field(default="4G", pattern=r"^(\d+[KMGT]?)?$")
    """Memory of one task (`--mem`)."""
