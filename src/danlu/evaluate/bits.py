"""How well a model predicts a text: loss, perplexity, bits per byte.

Decides: loss is the mean over tokens, not over batches. Bits per byte = sum of nats / (ln 2 * UTF-8 bytes). Of a
document that was predicted whole its own bytes count, whatever a tokenizer adds to it or does not know of it; of a part
those of its tokens. The end of a document is predicted too: it costs bits and has no bytes, so the figure is never
flattered by it; every document begins with BOS, so every byte of the text is predicted. Perplexity depends on the
tokenizer, bits per byte do not, but for one that loses text, such as WordPiece: what is lost costs nothing.
Costs: one forward pass over the text, and 16 bytes of memory a document; sums are float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from danlu.errors import InputError
from danlu.records import IGNORE_INDEX, Batch, Ints
from danlu.shards.documents import DomainDocuments


@dataclass(frozen=True)
class Evaluation:
    """One domain's measurement. `loss` in nats per token; `tokens` counts predicted ones; `bytes` is the text's."""

    domain: str
    loss: float
    perplexity: float
    bits_per_byte: float
    tokens: int
    bytes: int


def evaluate_domain(
    token_losses: Callable[[Batch], npt.NDArray[np.floating]],
    documents: DomainDocuments,
    batches: Iterable[Batch],
    token_bytes: npt.NDArray[np.int64],
) -> Evaluation:
    """Measures the batches of one domain, whose pieces are of these documents.

    `token_losses(batch)` gives the nats of every label, shape (B, T); what it says where a label is ignored does not
    count. `token_bytes` (V,) holds the UTF-8 bytes of each token, 0 for special ones. InputError where the batches
    predict no text.
    """
    nats, tokens = 0.0, 0
    predicted, piece_bytes = np.zeros_like(documents.lengths), np.zeros_like(documents.lengths)
    for batch in batches:
        valid = batch.labels != IGNORE_INDEX
        losses = np.asarray(token_losses(batch))
        if losses.shape != batch.labels.shape:
            raise ValueError(f"token losses have shape {losses.shape}, labels {batch.labels.shape}")
        nats += float(losses[valid].sum(dtype=np.float64))
        tokens += int(valid.sum())
        _count(batch, token_bytes, predicted, piece_bytes)
    # BOS is not predicted.
    length = int(np.where(predicted == documents.lengths - 1, documents.byte_counts, piece_bytes).sum())
    if tokens == 0 or length == 0:
        raise InputError(
            f"domain {documents.domain!r} has no validation text to measure; raise corpus.validation_share or add text"
        )
    loss = nats / tokens
    return Evaluation(documents.domain, loss, _exp(loss), nats / (math.log(2) * length), tokens, length)


def _count(batch: Batch, token_bytes: npt.NDArray[np.int64], predicted: Ints, piece_bytes: Ints) -> None:
    """Adds a batch's labels and their bytes to those of the documents (documents,) that they are of."""
    for sample, labels in zip(batch.samples, batch.labels, strict=True):
        column = 0
        for piece in sample.pieces:
            own = labels[column : column + piece.length]
            own = own[own != IGNORE_INDEX]
            predicted[piece.document] += len(own)
            piece_bytes[piece.document] += token_bytes[own].sum()
            column += piece.length


def _exp(loss: float) -> float:
    # exp overflows a float above 709 nats, which only a broken network reaches.
    return math.exp(loss) if loss < 709.0 else math.nan if math.isnan(loss) else math.inf
