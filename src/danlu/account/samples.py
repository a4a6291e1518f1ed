"""Documents to look at: a few of each kind, chosen by the hash of their ids, with the beginnings of their texts.

Decides: a document is chosen by domain and id alone, so the same corpus shows the same samples, and one that grows
keeps most of them. A dropped text's beginning is in the ledger; a kept one's is looked up in the parts. Costs: a pass
over a few columns of the ledger; for kept texts a pass over the ids of the parts and one row group a sample.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from danlu.account.ledger import Row, excerpt_of, part_damage, read_ledger
from danlu.read.store import list_parts
from danlu.rng import hash_text

T = TypeVar("T")

SAMPLES = 20
"""Of each reason, and of what is kept."""

COLUMNS = ("number", "id", "domain", "source", "url", "language", "split", "reason", "match", "excerpt")
"""What `Sample` takes of the ledger, in its order."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A document of the ledger and the beginning of its text; `reason` is "" where it was kept."""

    number: int
    id: str
    domain: str
    source: str
    url: str
    language: str
    split: str
    reason: str
    match: int
    excerpt: str


class Choice(Generic[T]):
    """The `count` items of each group whose keys hash lowest."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._heaps: dict[str, list[tuple[int, int, T]]] = {}

    def wants(self, group: str, key: str) -> int | None:
        """The rank to `add` an item with, None where it would not be chosen: so it need not be made."""
        rank = hash_text(key)
        heap = self._heaps.setdefault(group, [])
        return rank if len(heap) < self._count or rank < -heap[0][0] else None

    def add(self, group: str, rank: int, number: int, item: T) -> None:
        """Takes an item in; `number` orders those of equal rank."""
        heap = self._heaps[group]
        heapq.heappush(heap, (-rank, -number, item))
        if len(heap) > self._count:
            heapq.heappop(heap)

    def chosen(self) -> dict[str, list[T]]:
        """The groups by name, in each the lowest rank first."""
        return {
            group: [
                item for _, _, item in sorted(self._heaps[group], key=lambda entry: entry[:2], reverse=True)
            ]
            for group in sorted(self._heaps)
        }


def sample_by_reason(corpus: Path, count: int = SAMPLES) -> dict[str, list[Sample]]:
    """Up to `count` samples of each reason; under "" of what is kept."""
    choice: Choice[Sample] = Choice(count)
    for batch in read_ledger(corpus, COLUMNS):
        ids, domains = batch.column("id").to_pylist(), batch.column("domain").to_pylist()
        for place, reason in enumerate(batch.column("reason").to_pylist()):
            rank = choice.wants(reason, f"{domains[place]}/{ids[place]}")
            if rank is not None:
                sample = sample_at(batch, place)
                choice.add(reason, rank, sample.number, sample)
    chosen = choice.chosen()
    if kept := chosen.get(""):
        chosen[""] = with_kept_texts(corpus, kept)
    return chosen


def sample_at(batch: pa.RecordBatch, place: int) -> Sample:
    """One row of a batch that holds COLUMNS."""
    return Sample(*(batch.column(name)[place].as_py() for name in COLUMNS))


def with_kept_texts(corpus: Path, samples: Iterable[Sample]) -> list[Sample]:
    """The samples, those of kept documents with the beginnings of their texts as they are in the corpus."""
    samples = list(samples)
    wanted: dict[tuple[str, str], set[str]] = {}
    for sample in samples:
        if not sample.reason:
            wanted.setdefault((sample.split, sample.domain), set()).add(sample.id)
    found = {
        key: {name: excerpt_of(text) for name, text in kept_texts(corpus, *key, ids)}
        for key, ids in wanted.items()
    }
    return [
        sample
        if sample.reason
        else replace(sample, excerpt=found[sample.split, sample.domain].get(sample.id, sample.excerpt))
        for sample in samples
    ]


def excerpts_of(corpus: Path, rows: Iterable[Row]) -> dict[int, str]:
    """The beginnings of texts by number: of a dropped one as it was then, of a kept one as it is in the corpus."""
    samples = [Sample(*(getattr(row, name) for name in COLUMNS)) for row in rows]
    return {sample.number: sample.excerpt for sample in with_kept_texts(corpus, samples)}


def kept_texts(corpus: Path, split: str, domain: str, ids: Collection[str]) -> Iterator[tuple[str, str]]:
    """Ids and texts of kept documents; only row groups that hold one of the ids are read. Missing ids give nothing."""
    wanted, found = pa.array(sorted(ids), pa.string()), 0
    for path in list_parts(corpus, split, domain):
        if found == len(wanted):
            break
        with part_damage(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
            for group in range(file.num_row_groups):
                names = file.read_row_group(group, ["id"])["id"]
                places = pc.indices_nonzero(pc.is_in(names, wanted))
                if len(places):
                    rows = file.read_row_group(group, ["id", "text"]).take(places)
                    found += len(places)
                    yield from zip(rows["id"].to_pylist(), rows["text"].to_pylist(), strict=True)
