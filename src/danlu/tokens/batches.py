"""Batches: sample numbers -> arrays. The loader has no state but the number of samples that were consumed.

Guarantees: `batch(first, count)` is a pure function, so that a resume, another micro-batch or another world size
sees the same stream. Costs: about 20 microseconds a sample; `prefetch` prepares the next batches in a thread.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from danlu.errors import MissingError
from danlu.files import digest
from danlu.mixture.settings import MixtureSettings
from danlu.mixture.weights import resolve_weights, to_sample_shares
from danlu.objective.causal import Layout, Row, fill
from danlu.records import Batch, Piece, Sample
from danlu.shards.documents import DomainDocuments, list_token_domains, open_documents
from danlu.shards.shard import FORMAT
from danlu.tokenizer.codec import Codec
from danlu.tokens.index import DomainIndex, load_index
from danlu.tokens.order import Order
from danlu.tokens.packing import Packing
from danlu.tokens.settings import TokensSettings

_PREFETCHED_BATCHES = 2


class Batches:
    """The training samples of a run. Build with `open_batches`."""

    def __init__(
        self,
        order: Order,
        documents: Mapping[str, DomainDocuments],
        indexes: Mapping[str, DomainIndex],
        layout: Layout,
    ) -> None:
        self.order = order
        self.documents = documents
        self.indexes = indexes
        self.layout = layout
        self.domains = order.domains
        self.sequence_length = next(iter(indexes.values())).packing.sequence_length
        self.fingerprint = digest([FORMAT, {name: documents[name].fingerprint for name in self.domains}])
        """Changes with any token of any domain, and with the format of the order."""

    def pieces(self, number: int) -> tuple[Piece, ...]:
        """The pieces of documents that make sample `number`."""
        location = self.order.locate(number)
        return sample_pieces(location.domain, self.indexes[location.domain].packing, location.sample)

    def sample(self, number: int) -> Sample:
        """Sample `number` of the run, arrays of shape (T,)."""
        return self.batch(number, 1).samples[0]

    def batch(self, first: int, count: int) -> Batch:
        """Samples first..first+count-1, arrays of shape (count, T)."""
        rows = [
            (self.documents[pieces[0].domain], pieces)
            for pieces in map(self.pieces, range(first, first + count))
        ]
        return write_batch(rows, self.sequence_length, self.layout, first)


def sample_pieces(domain: str, packing: Packing, sample: int) -> tuple[Piece, ...]:
    """The pieces of one sample of a domain."""
    first, stop = int(packing.offsets[sample]), int(packing.offsets[sample + 1])
    return tuple(
        Piece(domain, document, start, length)
        for document, start, length in zip(
            packing.documents[first:stop].tolist(),
            packing.starts[first:stop].tolist(),
            packing.lengths[first:stop].tolist(),
            strict=True,
        )
    )


def write_batch(
    rows: Sequence[tuple[DomainDocuments, tuple[Piece, ...]]],
    sequence_length: int,
    layout: Layout,
    first: int,
) -> Batch:
    """Stacks one sample a row, each made of pieces of one domain; `first` is the number of the first."""
    shape = (len(rows), sequence_length)
    inputs, labels = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)
    positions, numbers = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)
    samples = []
    for i, (documents, pieces) in enumerate(rows):
        row = Row(inputs[i], labels[i], positions[i], numbers[i])
        fill(row, [(_with_next(documents, piece), piece.length) for piece in pieces], layout)
        sample = Sample(
            row.inputs, row.labels, row.positions, row.documents, pieces, documents.domain, first + i
        )
        samples.append(sample)
    return Batch(inputs, labels, positions, numbers, tuple(samples), first)


def _with_next(documents: DomainDocuments, piece: Piece) -> npt.NDArray[Any]:
    """The tokens of a piece and the one after them in the document: what the last label is."""
    return documents.tokens_of(piece.document, piece.start, piece.start + piece.length + 1)


def open_batches(
    directory: Path,
    codec: Codec,
    tokens: TokensSettings,
    mixture: MixtureSettings,
    *,
    sequence_length: int,
    total_tokens: int,
    seed: int,
) -> Batches:
    """Opens a run's tokens/ in the recipe's mixture and order.

    Raises MismatchError for shards of another tokenizer, InputError for a domain shorter than one sample,
    RecipeError for a mixture that the text cannot give, DamagedError for a shard that changed on disk.
    """
    train = directory / "train"
    names = list_token_domains(directory, "train")
    if not names:
        raise MissingError(f"{train} holds no token shards; build the tokens first")
    documents = {name: open_documents(train / name, codec) for name in names}
    weights = resolve_weights(mixture, {name: documents[name].tokens for name in names}, total_tokens)
    indexes = {
        name: load_index(train / name, documents[name], sequence_length, tokens.packing) for name in names
    }
    shares = to_sample_shares(weights, {name: indexes[name].mean_filled for name in names})
    order = Order(seed, shares, {name: indexes[name].group_offsets for name in names})
    layout = Layout(codec.pad_id, tokens.document_mask, tokens.reset_positions)
    return Batches(order, documents, indexes, layout)


def prefetch(batches: Batches, first: int, count: int, until: int) -> Generator[Batch, None, None]:
    """Batches of `count` samples from `first` up to `until` (the last may be shorter), prepared in a thread.

    An error in the thread is raised here. Closing the iterator ends the thread.
    """
    ready: queue.Queue[Batch | Exception | None] = queue.Queue(maxsize=_PREFETCHED_BATCHES)
    stopped = threading.Event()

    def work() -> None:
        try:
            for number in range(first, until, count):
                ready.put(batches.batch(number, min(count, until - number)))
                if stopped.is_set():
                    return
            ready.put(None)
        except Exception as error:  # handed to the consumer, which raises it
            ready.put(error)

    thread = threading.Thread(target=work, name="danlu-prefetch", daemon=True)
    thread.start()
    try:
        while (item := ready.get()) is not None:
            if isinstance(item, Exception):
                raise item
            yield item
    finally:
        stopped.set()
        while thread.is_alive():
            # Makes room for the one item that the thread may still be putting.
            while not ready.empty():
                ready.get()
            thread.join(timeout=0.01)
