"""What is there twice goes: equal documents; equal paragraphs, sentences and lines; lines that many documents share.

Decides: of equal ones the best stays (plan.py says which). Boilerplate stays nowhere. Guarantees: two texts are
taken for equal only by 128 bits. Costs: 20 bytes of disk a document, 28 a piece; memory for one range.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

from danlu.dedup.contract import Longs, Run
from danlu.dedup.exact import exact_key, pieces
from danlu.dedup.plan import (
    CUT,
    DROP,
    Keys,
    Orders,
    Plan,
    document_table,
    finish,
    finish_signing,
    hash_range,
    read_found,
    read_orders,
    read_plan,
    read_range,
    run_ranges,
    run_shards,
    sign_file,
    write_outcome,
)
from danlu.dedup.records import Records, RecordWriter, write_records
from danlu.dedup.settings import Boilerplate, Exact
from danlu.words.text import Text

WHOLE = np.dtype([("high", "<u8"), ("low", "<u8"), ("index", "<u4")])
PIECE = np.dtype([*WHOLE.descr, ("start", "<u4"), ("end", "<u4")])
_STAGE = "found"


class DocumentSigner:
    """Signs whole documents for `use = "exact"`."""

    def __init__(self, settings: Exact, work: Path, shard: int, ranges: int) -> None:
        self._settings, self._place = settings, (work, shard, ranges)
        self._keys: list[bytes] = []
        self._signed: list[tuple[int, bool, int]] = []

    def add(self, index: int, text: Text, held_out: bool) -> None:
        """One document."""
        self._keys.append(exact_key(text.text, self._settings)[:16])
        self._signed.append((index, held_out, len(text.text)))

    def close(self, documents: int) -> None:
        """Writes the keys and the table of documents."""
        work, shard, ranges = self._place
        records = _keyed(self._keys, WHOLE)
        records["index"] = [index for index, _, _ in self._signed]
        path = sign_file(work, shard, "records")
        write_records(path, records, hash_range(records["high"], ranges), ranges)
        finish_signing(self._settings, work, shard, ranges, document_table(documents, self._signed))


class PieceSigner:
    """Signs paragraphs, runs of sentences or lines for `use = "exact"`, lines for `use = "boilerplate"`."""

    def __init__(self, settings: Exact | Boilerplate, work: Path, shard: int, ranges: int) -> None:
        self._settings, self._place = settings, (work, shard, ranges)
        self._records = RecordWriter(sign_file(work, shard, "records"), PIECE, ranges)
        self._signed: list[tuple[int, bool, int]] = []

    def add(self, index: int, text: Text, held_out: bool) -> None:
        """One document."""
        self._signed.append((index, held_out, len(text.text)))
        found = pieces(text, self._settings)
        if not found:
            return
        same = [text.text[start:end] for start, end in found]
        if isinstance(self._settings, Boilerplate):
            same = [piece.strip() for piece in same]
        elif self._settings.ignore_white_space:
            same = [" ".join(piece.split()) for piece in same]
        keys = [xxhash.xxh3_128_digest(piece.encode("utf-8", "surrogatepass")) for piece in same]
        records = _keyed(keys, PIECE)
        records["index"] = index
        records["start"], records["end"] = np.array(found, np.uint32).T
        self._records.add(records, hash_range(records["high"], self._place[2]))

    def close(self, documents: int) -> None:
        """Writes the keys and the table of documents."""
        work, shard, ranges = self._place
        self._records.close()
        finish_signing(self._settings, work, shard, ranges, document_table(documents, self._signed))


def _keyed(keys: list[bytes], dtype: np.dtype[np.void]) -> Records:
    records = np.zeros(len(keys), dtype)
    words = np.frombuffer(b"".join(keys), ">u8").reshape(-1, 2)
    records["high"], records["low"] = words[:, 0], words[:, 1]
    return records


class Equal(NamedTuple):
    """Records sorted so that equal keys follow one another, in the order in which they were given."""

    order: npt.NDArray[np.intp]
    """(n,) where each sorted record stood."""
    group: Longs
    """(n,) the number of the group of each sorted record."""
    starts: Longs
    """(groups,) where each group begins."""


def group_equal(*keys: Keys) -> Equal:
    """Groups n records by their keys, the most significant first."""
    order = np.lexsort(keys[::-1]) if len(keys) > 1 else np.argsort(keys[0], kind="stable")
    new = np.zeros(len(order), np.bool_)
    new[:1] = True
    for key in keys:
        key = key[order]
        new[1:] |= key[1:] != key[:-1]
    return Equal(order, np.cumsum(new) - 1, np.flatnonzero(new))


def best_of_groups(equal: Equal, orders: Orders) -> Longs:
    """(groups,) the place, among the sorted records, of the best of each group: the lowest order, then the first."""
    rank = orders[equal.order].astype(np.uint64) << np.uint64(32) | np.arange(len(orders), dtype=np.uint64)
    if not len(rank):
        return np.empty(0, np.int64)
    return (np.minimum.reduceat(rank, equal.starts) & np.uint64(0xFFFFFFFF)).astype(np.int64)


def resolve_repeats(plan: Plan, run: Run) -> None:
    """Both stages: by range of keys, then by shard."""
    run_ranges(plan, run, find_repeats, f"{plan.settings.use}: compare")
    run_shards(plan, run, collect_repeats, f"{plan.settings.use}: collect")
    finish(plan)


def find_repeats(argument: dict[str, Any]) -> None:
    """One range: who goes, by shard."""
    plan, number = read_plan(argument["work"]), argument["range"]
    path = plan.file(_STAGE, number)
    if path.exists():
        return
    whole = _drops_documents(plan)
    found, numbers = read_range(plan, WHOLE if whole else PIECE, number)
    equal = group_equal(found["high"], found["low"])
    if isinstance(plan.settings, Boilerplate):
        numbers = numbers[equal.order]
        gone = _in_many(equal, numbers, plan.settings.min_documents)
    else:
        best = best_of_groups(equal, read_orders(plan, numbers))
        numbers = numbers[equal.order]
        gone = np.ones(len(numbers), np.bool_)
        gone[best] = False
    slots = plan.slot(numbers >> 32)
    gone &= slots >= 0
    records = found[equal.order[gone]]
    out = np.zeros(len(records), DROP if whole else CUT)
    for name in ("index",) if whole else ("index", "start", "end"):
        out[name] = records[name]
    if whole:
        out["match"] = out["pair"] = numbers[best][equal.group[gone]]
        out["similarity"] = 1.0
    write_records(path, out, slots[gone], len(plan.shards))


def collect_repeats(argument: dict[str, Any]) -> None:
    """One shard: its outcome, from all ranges."""
    plan, shard = read_plan(argument["work"]), argument["shard"]
    if _drops_documents(plan):
        write_outcome(plan, shard, read_found(plan, _STAGE, DROP, shard), np.empty(0, CUT))
    else:
        write_outcome(plan, shard, np.empty(0, DROP), read_found(plan, _STAGE, CUT, shard))


def _drops_documents(plan: Plan) -> bool:
    return isinstance(plan.settings, Exact) and plan.settings.unit == "document"


def _in_many(equal: Equal, numbers: Longs, min_documents: int) -> npt.NDArray[np.bool_]:
    """(n,) whether the key of a sorted record stands in that many different documents."""
    # Within a group the numbers are in order: a document's records follow one another.
    new = np.ones(len(numbers), np.int64)
    new[1:] = (numbers[1:] != numbers[:-1]) | (equal.group[1:] != equal.group[:-1])
    if not len(new):
        return np.empty(0, np.bool_)
    return (np.add.reduceat(new, equal.starts) >= min_documents)[equal.group]
