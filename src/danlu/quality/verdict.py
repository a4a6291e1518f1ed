"""What a step says about a document: kept, with the text as it is from now on, or dropped, with the reason.

Decides: a reason is a short stable string "step.what", which the funnel counts and tests name. Costs: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kept:
    """The document goes on with this text."""

    text: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """The document leaves, e.g. for "length.too_short"."""

    reason: str


Verdict = Kept | Dropped
