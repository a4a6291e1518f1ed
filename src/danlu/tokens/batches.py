"""Batches: sample numbers -> arrays. The loader has no state but the number of samples that were consumed.

Guarantees: `batch(first, count)` is a pure function, so that a resume, another micro-batch or another world size
sees the same stream. Costs: about 20 microseconds a sample; `prefetch` prepares the next batches in a thread.
"""

from __future__ import annotations

import queue
import threading
from bisect import bisect_right
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from danlu.mixture.stages import PlannedStage
from danlu.mixture.weights import to_sample_shares
from danlu.objective.causal import Layout, Row, fill
from danlu.records import Batch, Ints, Piece, Sample
from danlu.shards.documents import DomainDocuments
from danlu.tokenizer.codec import Codec
from danlu.tokens.index import Cutting, load_index
from danlu.tokens.legs import Leg, first_leg, next_leg
from danlu.tokens.order import Order

_PREFETCHED_BATCHES = 2

Blocked = Mapping[str, Mapping[int, int]]
"""Domain -> document number -> the first global step, 0 at the start of the run, that does not show it."""


Ranks = Mapping[tuple[str, str], Ints]
"""(domain, attribute) -> the document numbers in the order of the attribute."""


@dataclass(frozen=True, slots=True)
class OpenStage:
    """A planned stage with what it reads. `before`: samples of each domain's leg that earlier stages showed."""

    planned: PlannedStage
    first_step: int
    first_sample: int
    batch_sequences: int
    order: Order
    legs: Mapping[str, Leg]
    before: Mapping[str, int]
    layout: Layout

    def shown(self, samples: int) -> dict[str, int]:
        """Samples of each domain's leg that are shown after the first `samples` of this stage."""
        return {name: self.before[name] + count for name, count in self.order.counts(samples).items()}

    @property
    def end(self) -> int:
        """The sample after the last of the stage."""
        return self.first_sample + self.planned.steps * self.batch_sequences


class Batches:
    """The training samples of a run, numbered through all stages. Build with `open_batches`.

    The last stage goes on beyond the end of the plan.
    """

    def __init__(
        self, stages: Sequence[OpenStage], documents: Mapping[str, DomainDocuments], blocked: Blocked
    ) -> None:
        self.stages = tuple(stages)
        self.documents = documents
        self._blocked = blocked
        self._first_samples = [stage.first_sample for stage in stages]
        self._first_steps = [stage.first_step for stage in stages]
        self.domains = sorted({name for stage in stages for name in stage.legs})
        self.fingerprints = {name: documents[name].fingerprint for name in self.domains}
        """Each changes with any token of its domain."""

    def stage_of(self, sample: int) -> OpenStage:
        """The stage that a sample lies in."""
        return self.stages[bisect_right(self._first_samples, sample) - 1]

    def stage_at(self, step: int) -> OpenStage:
        """The stage of a global step, 0 at the start of the run."""
        return self.stages[bisect_right(self._first_steps, step) - 1]

    def pieces(self, number: int) -> tuple[Piece, ...]:
        """The pieces of documents that make sample `number`."""
        return self._row(self.stage_of(number), number)[1]

    def sample(self, number: int) -> Sample:
        """Sample `number` of the run, arrays of shape (T,)."""
        return self.batch(number, 1).samples[0]

    def batch(self, first: int, count: int) -> Batch:
        """Samples first..first+count-1, arrays of shape (count, T). They must be of one stage."""
        if first < 0:
            raise ValueError(f"there is no sample {first}; the first is 0")
        stage = self.stage_of(first)
        if count > 1 and self.stage_of(first + count - 1) is not stage:
            raise ValueError(f"samples {first} to {first + count - 1} are of different stages")
        rows = [self._row(stage, number) for number in range(first, first + count)]
        return write_batch(rows, stage.planned.sequence_length, stage.layout, first)

    def step(self, number: int) -> Batch:
        """The batch of a global step, 0 at the start of the run."""
        if number < 0:
            raise ValueError(f"there is no step {number}; the first is 0")
        stage = self.stage_at(number)
        first = stage.first_sample + (number - stage.first_step) * stage.batch_sequences
        return self.batch(first, stage.batch_sequences)

    def _row(self, stage: OpenStage, number: int) -> tuple[DomainDocuments, tuple[Piece, ...]]:
        """The documents that a sample is made of, and its pieces; those of blocked documents are left out."""
        domain, shown = stage.order.locate(number - stage.first_sample)
        pieces = stage.legs[domain].pieces(stage.before[domain] + shown)
        if blocked := self._blocked.get(domain):
            step = stage.first_step + (number - stage.first_sample) // stage.batch_sequences
            pieces = tuple(
                piece for piece in pieces if piece.document not in blocked or step < blocked[piece.document]
            )
        return self.documents[domain], pieces


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
    documents: Mapping[str, DomainDocuments],
    directory: Path,
    codec: Codec,
    stages: Sequence[PlannedStage],
    *,
    batch_tokens: int,
    seed: int,
    ranks: Ranks | None = None,
    blocked: Blocked | None = None,
) -> Batches:
    """Opens the training domains of the folder `directory` (tokens/train) in the order that the stages give.

    Raises InputError for a
    domain shorter than one sample, RecipeError for a weight that is no sample, DamagedError for a changed shard.
    """
    opened: list[OpenStage] = []
    legs: dict[str, tuple[Leg, int]] = {}
    first_step = first_sample = 0
    for planned in stages:
        if batch_tokens % planned.sequence_length:
            raise ValueError(
                f"{batch_tokens} tokens a step are no whole samples of {planned.sequence_length}"
            )
        for name in planned.weights:
            cutting = Cutting(planned.sequence_length, planned.packing, planned.order_by.get(name, ""))
            legs[name] = _go_on(directory, documents[name], cutting, legs.get(name), ranks or {}, seed)
        now = {name: legs[name][0] for name in planned.weights}
        filled = {name: leg.index.mean_filled for name, leg in now.items()}
        stage = OpenStage(
            planned,
            first_step,
            first_sample,
            batch_tokens // planned.sequence_length,
            Order(to_sample_shares(planned.weights, filled)),
            now,
            {name: legs[name][1] for name in planned.weights},
            Layout(codec.pad_id, planned.document_mask, planned.reset_positions),
        )
        opened.append(stage)
        for name, shown in stage.shown(stage.end - stage.first_sample).items():
            legs[name] = now[name], shown
        first_step, first_sample = first_step + planned.steps, stage.end
    return Batches(opened, documents, blocked or {})


def _go_on(
    directory: Path,
    documents: DomainDocuments,
    cutting: Cutting,
    before: tuple[Leg, int] | None,
    ranks: Ranks,
    seed: int,
) -> tuple[Leg, int]:
    """The leg of a domain in its next stage, and how many of its samples are shown already."""
    if before and before[0].cutting == cutting:
        return before
    rank = ranks[documents.domain, cutting.order_by] if cutting.order_by else None
    index = load_index(directory, documents, cutting, rank)
    if before is None:
        return first_leg(documents, cutting, index, seed), 0
    return next_leg(*before, cutting, index, rank, seed), 0


def prefetch(batches: Batches, first: int, until: int) -> Generator[Batch, None, None]:
    """The batches of the global steps first..until-1, 0 at the start of the run, prepared in a thread.

    An error in the thread is raised here. Closing the iterator ends the thread.
    """
    ready: queue.Queue[Batch | Exception | None] = queue.Queue(maxsize=_PREFETCHED_BATCHES)
    stopped = threading.Event()

    def work() -> None:
        try:
            for number in range(first, until):
                ready.put(batches.step(number))
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
