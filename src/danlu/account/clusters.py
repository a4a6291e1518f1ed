"""Clusters of copies: the documents that stay for most others, what went because of them, and how alike they were.

Decides: a cluster is what one step dropped for one document, which a later step may have dropped too, or which is of an
earlier corpus. They come in the order of the steps, those with most copies first, then the lower number. Guarantees:
the same each time; the largest where a step has up to a million clusters. Where it has more, one that is left out has
at most (the step's copies / 500,000) copies more than one that is shown; the counts shown are exact. Costs: two passes
over a few columns of the ledger, a million documents a second; memory for two million numbers of each step.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from danlu.account.ledger import NO_MATCH, Row, find_numbers, read_ledger
from danlu.account.most_common import Longs, MostCommon
from danlu.account.samples import excerpts_of
from danlu.log import human_bytes

LARGEST = 10
"""Clusters shown of each step."""

MEMBERS = 5
"""Copies shown of each cluster."""

SAME_ID = "id.repeated"
"""The reason of a document of which the id was compared, not the text."""

_LINE_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class Copy:
    """A document that was dropped, and the one that it was compared with: None where that is of an earlier corpus."""

    row: Row
    pair: Row | None


@dataclass(frozen=True, slots=True)
class Cluster:
    """What one step dropped because of one document."""

    step: str
    number: int
    """Of the document that stays."""
    survivor: Row | None
    """Its row, with the beginning of its text also where it was kept; None where it is of an earlier corpus."""
    copies: int
    """How many documents were dropped, it not counted."""
    bytes: int
    """UTF-8 of these as read."""
    members: tuple[Copy, ...]
    """The first of them by number."""

    def to_json(self) -> dict[str, Any]:
        """Plain values; a similarity that was not measured is null."""
        return {
            "step": self.step,
            "survivor": _plain(self.number, self.survivor),
            "copies": self.copies,
            "bytes": self.bytes,
            "members": [_plain_copy(copy) for copy in self.members],
        }


def largest_clusters(
    corpus: Path, steps: Sequence[str], largest: int = LARGEST, members: int = MEMBERS
) -> list[Cluster]:
    """The clusters with the most copies of each of the named steps, each with its first `members` copies."""
    keys = {step: counted.largest(largest) for step, counted in _count(corpus, steps).items()}
    found = _gather(corpus, np.concatenate([np.empty(0, np.int64), *keys.values()]), members)
    chosen = []
    for step in steps:
        gathered = [(-found[step, key].copies, key) for key in keys[step].tolist()]
        chosen += [(step, key) for _, key in sorted(gathered)[:largest]]
    return _clusters(corpus, {key: found[key] for key in chosen})


def copies_of(corpus: Path, number: int, first: int) -> tuple[int, tuple[Copy, ...]]:
    """How many documents any step dropped because one stays, and the first of them by number."""
    found = _gather(corpus, np.array([number]), first).values()
    numbers = sorted(chain.from_iterable(one.numbers for one in found))[:first]
    return sum(one.copies for one in found), _copies(numbers, _with_pairs(corpus, numbers))


@dataclass(slots=True)
class _Found:
    """What the ledger has of one cluster."""

    copies: int = 0
    bytes: int = 0
    numbers: list[int] = field(default_factory=list)


def _count(corpus: Path, steps: Sequence[str]) -> dict[str, MostCommon]:
    """The first pass: by step, how often which document is the one that stays."""
    counted = {step: MostCommon() for step in steps}
    for batch in read_ledger(corpus, ("step", "match")):
        rows = batch.filter(pc.not_equal(batch.column("match"), NO_MATCH))
        for step in rows.column("step").unique().to_pylist():
            if step in counted:
                mine = rows.filter(pc.equal(rows.column("step"), step))
                counted[step].add(mine.column("match").to_numpy())
    return counted


def _gather(corpus: Path, wanted: Longs, first: int) -> dict[tuple[str, int], _Found]:
    """The second pass: the clusters of these documents by (step, number), each with its `first` copies."""
    found: dict[tuple[str, int], _Found] = {}
    keys = pa.array(wanted)
    for batch in read_ledger(corpus, ("step", "match", "bytes", "number")):
        rows = batch.filter(pc.is_in(batch.column("match"), keys))
        if not rows.num_rows:
            continue
        groups = pa.Table.from_batches([rows]).group_by(["step", "match"], use_threads=False)
        sums = groups.aggregate([("bytes", "count"), ("bytes", "sum"), ("number", "list")])
        for row in sums.to_pylist():
            one = found.setdefault((row["step"], row["match"]), _Found())
            one.copies += row["bytes_count"]
            one.bytes += row["bytes_sum"]
            one.numbers += row["number_list"][: first - len(one.numbers)]
    return found


def _clusters(corpus: Path, found: Mapping[tuple[str, int], _Found]) -> list[Cluster]:
    """What was gathered, with the rows and texts that are shown."""
    rows = find_numbers(corpus, (number for _, number in found))
    rows |= _with_pairs(corpus, chain.from_iterable(one.numbers for one in found.values()))
    texts = excerpts_of(corpus, rows.values())
    rows = {number: replace(row, excerpt=texts[number]) for number, row in rows.items()}
    return [
        Cluster(step, number, rows.get(number), one.copies, one.bytes, _copies(one.numbers, rows))
        for (step, number), one in found.items()
    ]


def _with_pairs(corpus: Path, numbers: Iterable[int]) -> dict[int, Row]:
    """The rows of dropped documents and of those that they were compared with."""
    rows = find_numbers(corpus, numbers)
    return rows | find_numbers(corpus, {row.pair for row in rows.values()})


def _copies(numbers: Iterable[int], rows: Mapping[int, Row]) -> tuple[Copy, ...]:
    return tuple(Copy(rows[number], rows.get(rows[number].pair)) for number in numbers)


def describe(clusters: Sequence[Cluster]) -> str:
    """Clusters in plain lines."""
    return "\n\n".join("\n".join(_lines(cluster)) for cluster in clusters)


def _lines(cluster: Cluster) -> Iterator[str]:
    yield f"{cluster.step}: {summary(cluster)}"
    if cluster.survivor:
        yield f'    "{beginning(cluster.survivor.excerpt)}"'
    for copy in cluster.members:
        yield f"  {located(copy.row)}"
        yield f'    "{beginning(copy.row.excerpt)}"'
        yield f"    {evidence(copy)}"
        if copy.pair and copy.row.pair != cluster.number:
            yield f'    "{beginning(copy.pair.excerpt)}"'
    if more := cluster.copies - len(cluster.members):
        yield f"  and {more:,} more"


def summary(cluster: Cluster) -> str:
    """How many copies of which document, and what became of that."""
    copies = "1 copy" if cluster.copies == 1 else f"{cluster.copies:,} copies"
    row = cluster.survivor
    stays = f"{located(row)}, {fate(row)}" if row else _earlier(cluster.number)
    return f"{copies} ({human_bytes(cluster.bytes)}) of {stays}"


def evidence(copy: Copy) -> str:
    """How alike a copy and the document that it was compared with are, and which that is."""
    row, pair = copy.row, copy.pair
    if row.pair == row.match:
        other = "the one that stays"
    else:
        other = f"{pair.id} (number {pair.number})" if pair else _earlier(row.pair)
    if row.reason == SAME_ID:
        return f"the id of {other}"
    return f"like {other}" if math.isnan(row.similarity) else f"similarity {row.similarity:.3f} to {other}"


def located(row: Row) -> str:
    """A document and where it came from."""
    return f"{row.id} (number {row.number}), {row.source} [{row.start}:{row.end}]"


def beginning(text: str) -> str:
    """As much of a text as fits on one line."""
    return " ".join(text.split())[:_LINE_CHARACTERS]


def fate(row: Row) -> str:
    """Whether a document was kept, or why not."""
    return f"dropped: {row.reason}" if row.reason else "kept"


def _earlier(number: int) -> str:
    return f"number {number}, a document of an earlier corpus"


def _plain(number: int, row: Row | None) -> dict[str, Any]:
    """A document; of one of an earlier corpus the number is all that is known."""
    names = (
        "id",
        "domain",
        "source",
        "start",
        "end",
        "url",
        "split",
        "bytes",
        "kept_bytes",
        "reason",
        "excerpt",
    )
    return {"number": number, **({name: getattr(row, name) for name in names} if row else {})}


def _plain_copy(copy: Copy) -> dict[str, Any]:
    row = copy.row
    similarity = None if math.isnan(row.similarity) else row.similarity
    return {**_plain(row.number, row), "similarity": similarity, "pair": _plain(row.pair, copy.pair)}
