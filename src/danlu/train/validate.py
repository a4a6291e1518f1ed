"""Measures a network on the validation text of every domain: the one way, while training and after.

Decides: a forward pass takes about 4K tokens, less than a training step, whatever the training's micro-batch; a domain
without held-out text is left out. Guarantee: the same batches in the same order every time. Costs: the shards are
verified and packed once for a bounded measurement, whose batches are then kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from danlu.evaluate.bits import Evaluation, evaluate_domain
from danlu.recipe import Recipe
from danlu.records import Batch
from danlu.shards.documents import DomainDocuments
from danlu.tokenizer.codec import Codec
from danlu.tokens.domains import open_domains
from danlu.tokens.validation import validation_batches

TOKENS_A_PASS = 4_096

TokenLosses = Callable[[Batch], npt.NDArray[np.float32]]


def held_out(recipe: Recipe, run: Path, codec: Codec) -> dict[str, DomainDocuments]:
    """The validation text of each domain of a run, the recipe's slices cut out."""
    return open_domains(run / "tokens", "validation", run / "corpus", recipe.mixture.slice, codec)


class Validation:
    """The held-out text of a run: all of it, or the first `max_tokens` of each domain."""

    def __init__(
        self,
        documents: Mapping[str, DomainDocuments],
        codec: Codec,
        sequence_length: int,
        max_tokens: int | None,
    ) -> None:
        self._documents, self._codec, self._length, self._limit = (
            documents,
            codec,
            sequence_length,
            max_tokens,
        )
        self._kept: dict[str, list[Batch]] = {}
        self.domains = sorted(documents)

    def measure(self, token_losses: TokenLosses) -> list[Evaluation]:
        """Loss, perplexity and bits per byte of each domain; empty where nothing was held out."""
        token_bytes = self._codec.token_bytes()
        return [
            evaluate_domain(token_losses, self._documents[domain], self._batches(domain), token_bytes)
            for domain in self.domains
        ]

    def _batches(self, domain: str) -> Iterable[Batch]:
        rows = max(1, TOKENS_A_PASS // self._length)
        if domain in self._kept:
            return self._kept[domain]
        batches = validation_batches(
            self._documents[domain], self._length, self._limit, rows, self._codec.pad_id
        )
        if self._limit is None:
            return batches
        return self._kept.setdefault(domain, list(batches))
