"""Which attention kernel a run uses."""

from __future__ import annotations

from typing import Literal

from danlu.attention import reference, sdpa
from danlu.attention.contract import Attend


def resolve_attend(kind: Literal["auto", "sdpa", "reference"]) -> Attend:
    """ "auto" is the fused kernel; "reference" is there to check it."""
    return reference.attend if kind == "reference" else sdpa.attend
