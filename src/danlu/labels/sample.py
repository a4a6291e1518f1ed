"""Which documents are labelled: drawn from a built corpus by a seed, of the kept, the dropped, or those of one reason.

Decides: documents go by the hash of their numbers, or evenly over the values of one measure (an additive recurrence
with the golden ratio over their ranks), so that a larger draw begins with the smaller one. Each way of drawing has a
file of its own, with its texts: every labeller gets the same documents in the same order, also after the corpus was
built anew, and another way is another draw beside it. Of a dropped document there is what the ledger keeps, its
beginning; where kept ones are drawn with them these are cut alike, since a labeller, and what learns from the labels,
would tell the two by their lengths. Costs: a pass over two or three columns of the ledger, 16 bytes a document; for
kept texts the ids of the parts and one row group a document.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from danlu.account.ledger import (
    EXCERPT_CHARACTERS,
    Row,
    excerpt_of,
    find_numbers,
    list_measures,
    measure_values,
    read_ledger,
)
from danlu.account.samples import kept_texts
from danlu.config import nearest
from danlu.errors import DamagedError, MissingError
from danlu.files import digest, read_json, write_json
from danlu.labels.store import hash_of
from danlu.rng import hash_key, mix

KEPT, DROPPED = "kept", "dropped"
"""As reasons: all documents that stay, all that went."""

_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, slots=True)
class Draw:
    """What is drawn."""

    count: int
    seed: int = 1
    reason: str = ""
    """ "": all documents, by their beginnings; KEPT, DROPPED; a step ("length") or a whole reason ("length.short")."""
    by: str = ""
    """A measure ("quality.score") over whose values the draw is spread evenly; documents without it are left out."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A document to label."""

    number: int
    id: str
    domain: str
    source: str
    language: str
    reason: str
    """Why it was dropped; "" where it was kept. No labeller is shown it."""
    text: str
    whole: bool
    """False: the text is a document's beginning."""

    @property
    def text_hash(self) -> str:
        """What labels know it by."""
        return hash_of(self.text)


def draw_path(folder: Path, wanted: Draw) -> Path:
    """Where a draw is stored: its name follows from the way of drawing, whatever the count."""
    return folder / f"documents-{digest(_way(wanted))[:8]}.json"


def stored_draws(folder: Path) -> list[Drawn]:
    """The documents of all draws of a folder, each text once. Raises MissingError where there is no draw."""
    paths = sorted(folder.glob("documents-*.json"))
    if not paths:
        raise MissingError(f"{folder} has no document to label yet; `danlu corpus label` draws some first")
    found: dict[str, Drawn] = {}
    for path in paths:
        for document in _load(path):
            found.setdefault(document.text_hash, document)
    return list(found.values())


def open_draw(folder: Path, corpus: Path, wanted: Draw) -> list[Drawn]:
    """The draw that a folder has, made or made longer where it holds fewer documents than wanted; at most all."""
    path = draw_path(folder, wanted)
    stored = _load(path) if path.exists() else []
    if len(stored) >= wanted.count:
        return stored[: wanted.count]
    known = {document.text_hash for document in stored}
    documents = list(stored)
    for document in draw(corpus, wanted):
        if len(documents) < wanted.count and document.text_hash not in known:
            known.add(document.text_hash)
            documents.append(document)
    if len(documents) > len(stored):
        write_json(path, {"draw": _way(wanted), "documents": [asdict(document) for document in documents]})
    return documents


def _way(wanted: Draw) -> dict[str, Any]:
    way = asdict(wanted)
    del way["count"]
    return way


def draw(corpus: Path, wanted: Draw) -> list[Drawn]:
    """The documents of a draw in its order. Raises MissingError where none is of the reason, or has the measure."""
    numbers, values = _eligible(corpus, wanted)
    key = np.uint64(hash_key(wanted.seed, "labels"))
    ranks = mix(numbers.view(np.uint64) ^ key)
    if wanted.by:
        order = np.lexsort((ranks, values))
        chosen = order[_spread(len(order), wanted.count, float(ranks.min()) / 2**64)]
    else:
        chosen = np.argsort(ranks, kind="stable")[: wanted.count]
    rows = find_numbers(corpus, numbers[chosen].tolist())
    found = _with_texts(corpus, [rows[number] for number in numbers[chosen].tolist()])
    return list(found if wanted.reason else map(_beginning, found))


def _spread(total: int, count: int, offset: float) -> list[int]:
    """`count` different places of `total`, evenly spread; the first few of more are those of few."""
    taken: dict[int, None] = {}
    free = _Free(total)
    for step in range(min(count, total)):
        taken[free.next(int((offset + step * _GOLDEN) % 1.0 * total))] = None
    return list(taken)


class _Free:
    """Places that are not taken: the next one from a place on, around the end."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._after: dict[int, int] = {}

    def next(self, place: int) -> int:
        """The first free place from `place` on; it is taken then."""
        passed = []
        while place in self._after:
            passed.append(place)
            place = self._after[place]
        following = (place + 1) % self._total
        # Every place that was passed leads straight on from now, so that a long run costs little.
        self._after.update(dict.fromkeys((*passed, place), following))
        return place


def _eligible(corpus: Path, wanted: Draw) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Numbers and values (zeros without `by`) of the documents that may be drawn."""
    if wanted.by and wanted.by not in (measures := list_measures(corpus)):
        raise MissingError(
            f"the ledger of {corpus} has no measure {wanted.by!r}; {nearest(wanted.by, measures)}"
        )
    columns = ["number", "reason", *([wanted.by] if wanted.by else [])]
    numbers, values = [np.empty(0, np.int64)], [np.empty(0)]
    reasons: set[str] = set()
    for batch in read_ledger(corpus, columns):
        fits = _fits(batch.column("reason"), wanted.reason)
        found = measure_values(batch, wanted.by) if wanted.by else np.zeros(batch.num_rows)
        fits &= ~np.isnan(found)
        numbers.append(batch.column("number").to_numpy()[fits])
        values.append(found[fits])
        reasons.update(pc.unique(batch.column("reason")).to_pylist())
    every = np.concatenate(numbers)
    if not len(every):
        known = [KEPT, DROPPED, *sorted(reasons - {""})]
        of = f"of the reason {wanted.reason!r}" if wanted.reason else "at all"
        measured = f" with {wanted.by} measured" if wanted.by else ""
        raise MissingError(f"{corpus} has no document {of}{measured}; {nearest(wanted.reason, known)}")
    return every, np.concatenate(values)


def _fits(reasons: pa.Array, wanted: str) -> npt.NDArray[np.bool_]:
    """Which rows are of a reason."""
    if not wanted:
        return np.ones(len(reasons), np.bool_)
    if wanted in (KEPT, DROPPED):
        found = pc.equal(reasons, "") if wanted == KEPT else pc.not_equal(reasons, "")
    else:
        found = pc.or_(pc.equal(reasons, wanted), pc.starts_with(reasons, f"{wanted}."))
    return np.array(found.to_numpy(zero_copy_only=False), np.bool_)


def _with_texts(corpus: Path, rows: Sequence[Row]) -> Iterator[Drawn]:
    wanted: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        if not row.reason:
            wanted.setdefault((row.split, row.domain), set()).add(row.id)
    texts = {key: dict(kept_texts(corpus, *key, ids)) for key, ids in wanted.items()}
    for row in rows:
        text, whole = row.excerpt, len(row.excerpt) < EXCERPT_CHARACTERS
        if not row.reason:
            found = texts[row.split, row.domain].get(row.id)
            if found is None:
                raise DamagedError(
                    f"{corpus} has no text of the document {row.id!r}, which its ledger says was kept; build it again"
                )
            text, whole = found, True
        yield Drawn(row.number, row.id, row.domain, row.source, row.language, row.reason, text, whole)


def _beginning(document: Drawn) -> Drawn:
    """A document as the ledger would keep it, had it been dropped."""
    text = excerpt_of(document.text)
    return replace(document, text=text, whole=len(text) < EXCERPT_CHARACTERS)


def _load(path: Path) -> list[Drawn]:
    value = read_json(path)
    try:
        return [Drawn(**fields) for fields in value["documents"]]
    except (TypeError, KeyError):
        raise DamagedError(f"{path} is no draw of documents; remove it to draw anew") from None
