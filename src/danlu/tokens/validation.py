"""The validation text of a domain as batches in a fixed order: every token once, nothing shuffled.

Guarantees: the same shards give the same batches, whatever the training's mixture, seed or packing; documents are
masked from one another, so that each is measured alone. Costs: one verification and packing of the split each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from danlu.objective.causal import Layout
from danlu.records import Batch, Ints
from danlu.tokens.batches import sample_pieces, write_batch
from danlu.tokens.documents import list_shards, open_documents
from danlu.tokens.packing import pack
from danlu.tokens.shard import verify_shard


def validation_batches(
    directory: Path,
    domain: str,
    sequence_length: int,
    max_tokens: int | None,
    batch_sequences: int,
    pad_id: int,
) -> Iterator[Batch]:
    """Batches (at most `batch_sequences`, T) of tokens/validation/<domain>; the last may have fewer rows.

    With `max_tokens`, the first so many tokens in the order of the documents' hashes. A domain without a validation
    split (validation_share = 0) gives none. Raises DamagedError for a shard that changed on disk.
    """
    path = directory / "validation" / domain
    if not list_shards(path):
        return
    documents = open_documents(path)
    for shard in documents.shards:
        verify_shard(shard.path)
    packing = pack(_head(documents.lengths, max_tokens), sequence_length, "best_fit")
    layout = Layout(pad_id)
    for first in range(0, packing.samples, batch_sequences):
        stop = min(first + batch_sequences, packing.samples)
        rows = [(documents, sample_pieces(domain, packing, sample)) for sample in range(first, stop)]
        yield write_batch(rows, sequence_length, layout, first)


def _head(lengths: Ints, max_tokens: int | None) -> Ints:
    """The lengths cut so that they sum to at most `max_tokens`."""
    if max_tokens is None:
        return lengths
    before = np.cumsum(lengths) - lengths
    cut: Ints = np.clip(max_tokens - before, 0, lengths)
    return cut
