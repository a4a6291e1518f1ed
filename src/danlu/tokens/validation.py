"""The validation text of a domain as batches in a fixed order: every token once, nothing shuffled.

Guarantees: the same shards give the same batches, whatever the training's mixture, seed or packing; documents are
masked from one another, so that each is measured alone. Costs: one verification and packing of the split each time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from danlu.objective.causal import Layout
from danlu.records import Batch, Ints
from danlu.rng import hash_key, hash_range
from danlu.shards.documents import DomainDocuments
from danlu.shards.shard import verify_shard
from danlu.tokens.batches import write_batch
from danlu.tokens.legs import sample_pieces
from danlu.tokens.packing import pack


def validation_batches(
    documents: DomainDocuments,
    sequence_length: int,
    max_tokens: int | None,
    batch_sequences: int,
    pad_id: int,
) -> Iterator[Batch]:
    """Batches (at most `batch_sequences`, T) of a domain's validation text; the last may have fewer rows.

    With `max_tokens`, so many tokens' worth of whole samples (at least one), chosen by a fixed hash over all documents,
    so that a few long ones do not stand for the rest.
    """
    for shard in documents.shards:
        verify_shard(shard.path)
    domain = documents.domain
    packing = pack(documents.lengths, sequence_length, "best_fit")
    layout = Layout(pad_id)
    chosen = _chosen(domain, packing.samples, sequence_length, max_tokens)
    for first in range(0, len(chosen), batch_sequences):
        samples = chosen[first : first + batch_sequences]
        rows = [(documents, sample_pieces(domain, packing, int(sample))) for sample in samples]
        yield write_batch(rows, sequence_length, layout, first)


def _chosen(domain: str, samples: int, sequence_length: int, max_tokens: int | None) -> Ints:
    """The samples to measure, ascending."""
    if max_tokens is None or max_tokens >= samples * sequence_length:
        return np.arange(samples)
    wanted = max(1, max_tokens // sequence_length)
    order = np.argsort(hash_range(hash_key("validation", domain), 0, samples), kind="stable")
    return np.sort(order[:wanted])
