"""Which side of the train/validation split a document is on: by the hash of its group, never by its position.

Guarantees: a group stays on its side whatever text is added, and parts of one file are on one side; of equal texts on
both sides deduplication keeps the one in validation (dedup/plan.py).
Raising the share only moves documents from train to validation. Costs: one 64-bit hash a document.
"""

from __future__ import annotations

import math

from danlu.rng import hash_text

TRAIN, VALIDATION = "train", "validation"
SPLITS = (TRAIN, VALIDATION)


def split_point(group: str) -> float:
    """Where a group lies in [0, 1): it is in validation where this is below the share."""
    return (hash_text(group) >> 11) / (1 << 53)


def split_of(point: float, validation_share: float) -> str:
    """The side of what lies at a point."""
    return VALIDATION if point < validation_share else TRAIN


def share_above(point: float) -> float:
    """The smallest share of two significant digits that takes a point into validation."""
    unit = 10.0 ** (math.floor(math.log10(max(point, 1e-12))) - 1)
    return float(f"{(math.floor(point / unit) + 1) * unit:.2g}")
