"""Is an export the network that was trained? Compares the logits of `forward.py` with those of the network itself.

Decides: one document of random tokens, as long as the network was trained for up to 256, so that every position and
many rows of the embedding take part; the largest absolute difference may be 1e-4. Costs: two forward passes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from danlu.errors import MismatchError
from danlu.export.forward import forward
from danlu.rng import generator

TOLERANCE = 1e-4
_LONGEST = 256

Logits = Callable[[npt.NDArray[np.int64]], npt.NDArray[Any]]
"""ids (T,) of one document -> logits (T, V)."""


@dataclass(frozen=True)
class Verification:
    """How far the logits of the exported files are from the network's, over `tokens` positions of the vocabulary."""

    max_difference: float
    tokens: int


def verify_export(
    directory: Path, vocab_size: int, bos_id: int, length: int, network: Logits
) -> Verification:
    """Raises MismatchError if a logit differs by more than 1e-4 or is not finite."""
    ids = probe(vocab_size, bos_id, min(length, _LONGEST))
    expected = np.asarray(network(ids), dtype=np.float64)
    found = forward(directory, ids)
    if expected.shape != found.shape:
        raise MismatchError(
            f"{directory} gives logits of shape {found.shape}, the network {expected.shape}; nothing was exported"
        )
    difference = float(np.abs(found - expected).max())
    # Not-a-number compares false, so it is refused here too.
    if not difference <= TOLERANCE:
        raise MismatchError(
            f"the logits of {directory} differ from the network's by {difference:.3g}, above {TOLERANCE:g}; nothing "
            f"was exported. If the network ran in a lower precision, compare it in fp32"
        )
    return Verification(difference, len(ids))


def probe(vocab_size: int, bos_id: int, length: int) -> npt.NDArray[np.int64]:
    """The document that is compared: BOS, then tokens drawn evenly from the vocabulary; always the same."""
    ids = generator("export", vocab_size, length).integers(0, vocab_size, size=length, dtype=np.int64)
    ids[0] = bos_id
    return ids
