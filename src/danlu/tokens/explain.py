"""What the mixture gives in all: tokens, samples and epochs of each domain in the first so many samples.

Guarantees: counted from the same order that the training reads, so the answer is what the model saw. Costs: one pass
over a period of the mixture.
"""

from __future__ import annotations

from dataclasses import dataclass

from danlu.tokens.batches import Batches


@dataclass(frozen=True, slots=True)
class MixtureRow:
    """What a run takes from one domain. `tokens` are real ones (padding left out), by the mean filled sample."""

    domain: str
    share: float
    tokens: int
    samples: int
    epochs: float
    unique_tokens: int
    documents: int


def explain_mixture(batches: Batches, total_samples: int) -> list[MixtureRow]:
    """Tokens and epochs of each domain in the first `total_samples` samples; shares are of the tokens."""
    counts = batches.order.counts(total_samples)
    means = {name: batches.indexes[name].mean_filled for name in batches.domains}
    tokens = {name: round(counts[name] * means[name]) for name in batches.domains}
    total = sum(tokens.values()) or 1
    return [
        MixtureRow(
            domain=name,
            share=tokens[name] / total,
            tokens=tokens[name],
            samples=counts[name],
            epochs=counts[name] / batches.order.samples_of(name),
            unique_tokens=batches.documents[name].tokens,
            documents=len(batches.documents[name]),
        )
        for name in batches.domains
    ]
