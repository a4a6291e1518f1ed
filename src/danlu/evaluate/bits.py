"""How well a model predicts a text: loss, perplexity, bits per byte.

Decides: loss is the mean over tokens, not over batches. Bits per byte = sum of nats / (ln 2 * UTF-8 bytes of the
predicted tokens). The end of a document is predicted too: it costs bits and has no bytes, so the figure is never
flattered by it; every document begins with BOS, so every byte of the text is predicted. Perplexity depends on the
tokenizer, bits per byte do not. Costs: one forward pass over the text; sums are float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from danlu.errors import InputError
from danlu.records import IGNORE_INDEX, Batch


@dataclass(frozen=True)
class Evaluation:
    """One domain's measurement. `loss` in nats per token; `tokens` counts predicted ones; `bytes` is their text."""

    domain: str
    loss: float
    perplexity: float
    bits_per_byte: float
    tokens: int
    bytes: int


def evaluate_domain(
    token_losses: Callable[[Batch], npt.NDArray[np.floating]],
    domain: str,
    batches: Iterable[Batch],
    token_bytes: npt.NDArray[np.int64],
) -> Evaluation:
    """Measures the batches of one domain.

    `token_losses(batch)` gives the nats of every label, shape (B, T); what it says where a label is ignored does not
    count. `token_bytes` (V,) holds the UTF-8 bytes of each token, 0 for special ones.
    """
    nats, tokens, length = 0.0, 0, 0
    for batch in batches:
        valid = batch.labels != IGNORE_INDEX
        losses = np.asarray(token_losses(batch))
        if losses.shape != batch.labels.shape:
            raise ValueError(f"token losses have shape {losses.shape}, labels {batch.labels.shape}")
        nats += float(losses[valid].sum(dtype=np.float64))
        tokens += int(valid.sum())
        length += int(token_bytes[batch.labels[valid]].sum())
    if tokens == 0 or length == 0:
        raise InputError(
            f"domain {domain!r} has no validation text to measure; raise corpus.validation_share or add text"
        )
    loss = nats / tokens
    return Evaluation(domain, loss, _exp(loss), nats / (math.log(2) * length), tokens, length)


def _exp(loss: float) -> float:
    # exp overflows a float above 709 nats, which only a broken network reaches.
    return math.exp(loss) if loss < 709.0 else math.nan if math.isnan(loss) else math.inf
