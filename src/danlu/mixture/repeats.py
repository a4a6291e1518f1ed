"""What repeated text is worth: tokens seen again count less and less, by the data-constrained scaling law.

Decides: nothing; it says what a choice of epochs costs. The constant was fitted on English web text (C4, OSCAR) with
models up to 9 billion parameters and 900 billion tokens: of other text it is an estimate. Costs: nothing.
"""

from __future__ import annotations

import math

DECAY_EPOCHS = 15.387756
"""R*, 15.39 in print: after so many repetitions a token seen again has lost 1 - 1/e of its value (Muennighoff et al.
2023, section 3.1; the unrounded figure is of their published fit)."""


def effective_tokens(unique_tokens: float, epochs: float) -> float:
    """Fresh tokens that would teach as much as `epochs` passes over `unique_tokens` (Muennighoff et al. 2023, eq. 5).

    Below one pass it is what was read; 4 passes are worth 3.73, 16 are worth 10.6, endlessly many 16.4.
    """
    repeats = max(epochs - 1.0, 0.0)
    return unique_tokens * (min(epochs, 1.0) - DECAY_EPOCHS * math.expm1(-repeats / DECAY_EPOCHS))
