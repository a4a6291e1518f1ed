"""Refuses a step whose numbers are not finite, before the optimizer moves.

Decides on numbers that are on the host already (the summed loss and the gradient norm), so it costs nothing;
a NaN in any weight gradient shows in the norm.
"""

from __future__ import annotations

import math

from danlu.errors import DivergedError


def check_finite(loss: float, norm: float, step: int) -> None:
    """Raises DivergedError unless both the loss (nats a token) and the gradient norm of `step` are finite."""
    if math.isfinite(loss) and math.isfinite(norm):
        return
    raise DivergedError(
        f"step {step}: the loss is {loss}, the gradient norm {norm}. The weights were not moved by it, and every save "
        f"is intact. Lower optimizer.learning_rate, or look at the documents of this step"
    )
