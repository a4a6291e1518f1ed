"""One resolution: who takes part, where its files lie, and the outcome of each shard.

Decides: the order of documents. Among equal ones the best comes first: an earlier corpus, then what is held out, then
by the keep rule (the longest, or the lowest number). Guarantees: files under `work` belong to one plan; another plan
over the same signatures starts over. Costs: a plan is read once a task, the table of a shard's documents (5 bytes each)
once a task and shard, what an earlier step dropped once a process and shard (kept, a bit a document).

    work/signed/SHARD.*   signatures; SHARD.json, written last, says with which settings
    work/plan.json        this plan
    work/STAGE/TASK       records from one stage to the next, removed at the end
    work/outcome/SHARD.*  results
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from danlu.dedup.contract import Bools, Longs, Outcome, Run, Spans
from danlu.dedup.records import ADVICE, Records, count_records, read_group, write_records
from danlu.dedup.settings import Boilerplate, Exact, MinHash, SharedStep, Substrings
from danlu.errors import DamagedError, MismatchError, MissingError
from danlu.files import digest, read_json, write_json
from danlu.rng import mix

Keys = npt.NDArray[np.uint64]
Orders = npt.NDArray[np.uint32]
Task = Callable[[dict[str, Any]], None]
"""Takes {"work": directory, "range" or "shard": number}; does nothing where its file is there already."""

DOCUMENT = np.dtype([("held_out", "u1"), ("length", "<u4")])
"""One for each document of a shard; length in code points, 0 for those that were not signed."""
DROP = np.dtype([("index", "<u4"), ("match", "<i8"), ("pair", "<i8"), ("similarity", "<f4")])
CUT = np.dtype([("index", "<u4"), ("start", "<u4"), ("end", "<u4")])

OUTCOME, SIGNED = "outcome", "signed"
_SETTINGS: dict[str, type[SharedStep]] = {
    "exact": Exact,
    "minhash": MinHash,
    "substrings": Substrings,
    "boilerplate": Boilerplate,
}
_CLASS_BITS = 30
_LONGEST = (1 << _CLASS_BITS) - 1


@dataclass(frozen=True, slots=True)
class Plan:
    """What `resolve` was asked for. `shards` and `references` are sorted and have none in common."""

    settings: SharedStep
    work: Path
    shards: tuple[int, ...]
    references: tuple[int, ...]
    ranges: int
    before: tuple[Path, ...]

    def file(self, stage: str, number: int) -> Path:
        """The records that one task of a stage leaves."""
        return self.work / stage / f"{number:08d}.records"

    def slot(self, shard: npt.NDArray[np.integer[Any]]) -> Longs:
        """The place of shards in `shards`, which is their group in files for shards; -1 for references."""
        ordered = np.array(self.shards, np.int64)
        place = np.searchsorted(ordered, shard)
        return np.where(np.searchsorted(ordered, shard, side="right") > place, place, -1).astype(np.int64)


def sign_file(work: Path, shard: int, kind: str) -> Path:
    """A file of a shard's signatures."""
    return work / SIGNED / f"{shard:08d}.{kind}"


def finish_signing(settings: SharedStep, work: Path, shard: int, ranges: int, documents: Records) -> None:
    """Writes the table of documents, and last the note that the shard is signed; what was resolved before is void."""
    for void in ("done.json", "plan.json"):
        (work / void).unlink(missing_ok=True)
    write_records(sign_file(work, shard, "documents"), documents, np.zeros(len(documents), np.int64), 1)
    write_json(sign_file(work, shard, "json"), {"settings": digest(_dump(settings)), "ranges": ranges})


def document_table(documents: int, signed: list[tuple[int, bool, int]]) -> Records:
    """(documents,) DOCUMENT from (index, held out, length) of those that were signed."""
    table = np.zeros(documents, DOCUMENT)
    if signed:
        index, held_out, length = zip(*signed, strict=True)
        table["held_out"][list(index)] = held_out
        table["length"][list(index)] = length
    return table


def write_plan(plan: Plan) -> None:
    """Checks that every shard was signed for this plan, and clears what another plan or older signatures left."""
    expected = {"settings": digest(_dump(plan.settings)), "ranges": plan.ranges}
    for shard in (*plan.references, *plan.shards):
        note = sign_file(plan.work, shard, "json")
        try:
            signed = read_json(note)
        except DamagedError as error:
            # Removing the note is no help: the shard would not be signed again.
            raise DamagedError(f"{note} is damaged: {ADVICE}") from error
        if signed != expected:
            raise MismatchError(
                f"{note}: shard {shard} was signed with other settings; remove {plan.work} and sign again"
            )
    path = plan.work / "plan.json"
    if not path.exists() or read_json(path) != _encode(plan):
        path.unlink(missing_ok=True)
        _clear(plan.work, (SIGNED,))
        write_json(path, _encode(plan))


def read_plan(work: str) -> Plan:
    """The plan that a task is part of."""
    value = read_json(Path(work) / "plan.json")
    settings = value["settings"]
    return Plan(
        settings=_SETTINGS[settings["use"]].model_validate(settings),
        work=Path(work),
        shards=tuple(value["shards"]),
        references=tuple(value["references"]),
        ranges=value["ranges"],
        before=tuple(map(Path, value["before"])),
    )


def finished(plan: Plan) -> bool:
    """Whether the outcomes of exactly this plan are there."""
    path = plan.work / "done.json"
    return path.exists() and read_json(path) == _encode(plan)


def finish(plan: Plan) -> None:
    """Notes that all outcomes are there and removes the records between the stages."""
    write_json(plan.work / "done.json", _encode(plan))
    _clear(plan.work, (SIGNED, OUTCOME))


def _clear(work: Path, keep: tuple[str, ...]) -> None:
    for directory in work.iterdir() if work.is_dir() else ():
        if directory.is_dir() and directory.name not in keep:
            shutil.rmtree(directory)
        elif directory.name == "done.json" and OUTCOME not in keep:
            directory.unlink()


def _encode(plan: Plan) -> dict[str, Any]:
    return {
        "settings": _dump(plan.settings),
        "shards": list(plan.shards),
        "references": list(plan.references),
        "ranges": plan.ranges,
        "before": [str(path) for path in plan.before],
    }


def _dump(settings: SharedStep) -> dict[str, Any]:
    return settings.model_dump(mode="json")


def read_range(plan: Plan, dtype: np.dtype[np.void], group: int) -> tuple[Records, Longs]:
    """One group of all shards' records (n,), of documents that are alive, and the number of the document of each.

    Earlier corpora come first, then documents in the order of their numbers.
    """
    records, numbers = [np.empty(0, dtype)], [np.empty(0, np.int64)]
    before = [find_dropped(work) for work in plan.before]
    for place, shard in enumerate((*plan.references, *plan.shards)):
        part = read_group(sign_file(plan.work, shard, "records"), dtype, group)
        for dropped in before if place >= len(plan.references) else ():
            if len(part):
                part = part[~dropped.of(shard, part["index"])]
        records.append(part)
        numbers.append((shard << 32) | part["index"].astype(np.int64))
    return np.concatenate(records), np.concatenate(numbers)


def read_orders(plan: Plan, numbers: Longs) -> Orders:
    """(n,) the order of the documents of `numbers`, whose shards follow one another: lower is better."""
    orders = np.empty(len(numbers), np.uint32)
    for shard, place in by_shard(numbers):
        orders[place] = document_orders(plan, shard)[numbers[place] & 0xFFFFFFFF]
    return orders


def document_orders(plan: Plan, shard: int) -> Orders:
    """(n,) for each document of a shard: earlier corpora, held out, rest; then, if asked for, the longest first."""
    table = read_group(sign_file(plan.work, shard, "documents"), DOCUMENT, 0)
    group = np.where(table["held_out"], 1, 2) if shard not in plan.references else np.zeros(len(table))
    orders = group.astype(np.uint32) << np.uint32(_CLASS_BITS)
    if isinstance(plan.settings, MinHash) and plan.settings.keep == "longest":
        orders |= np.uint32(_LONGEST) - np.minimum(table["length"], _LONGEST).astype(np.uint32)
    return orders


def by_shard(numbers: Longs) -> Iterator[tuple[int, slice]]:
    """Each shard in document numbers that are together by shard, and where its documents lie among them."""
    shards = numbers >> 32
    first = [0, *(np.flatnonzero(np.diff(shards)) + 1).tolist(), len(numbers)]
    for begin, end in pairwise(first):
        if end > begin:
            yield int(shards[begin]), slice(begin, end)


def hash_range(keys: Keys, ranges: int) -> Longs:
    """(n,) which of `ranges` equal parts of the 64-bit numbers each key lies in."""
    return (((keys >> np.uint64(32)) * np.uint64(ranges)) >> np.uint64(32)).astype(np.int64)


def number_range(numbers: Longs, ranges: int) -> Longs:
    """(n,) the same for document numbers, scattered first."""
    return hash_range(mix(numbers.view(np.uint64)), ranges)


def run_ranges(plan: Plan, run: Run, function: Task, title: str, **more: Any) -> None:
    """One task for each range."""
    run(function, [{"work": str(plan.work), "range": number, **more} for number in range(plan.ranges)], title)


def run_shards(plan: Plan, run: Run, function: Task, title: str) -> None:
    """One task for each shard that has an outcome."""
    run(function, [{"work": str(plan.work), "shard": shard} for shard in plan.shards], title)


def read_found(plan: Plan, stage: str, dtype: np.dtype[np.void], shard: int) -> Records:
    """What the tasks of a stage found for one shard, in the order of the tasks."""
    slot = int(plan.slot(np.array([shard]))[0])
    return np.concatenate([read_group(plan.file(stage, r), dtype, slot) for r in range(plan.ranges)])


def write_outcome(plan: Plan, shard: int, drops: Records, cuts: Records) -> None:
    """Leaves a shard's outcome: DROP in any order, CUT in any order and overlapping."""
    drops = np.sort(drops, order="index")
    cuts = merge_cuts(cuts)
    write_records(_outcome_file(plan.work, shard, "cuts"), cuts, np.zeros(len(cuts), np.int64), 1)
    write_records(_outcome_file(plan.work, shard, "drops"), drops, np.zeros(len(drops), np.int64), 1)


def merge_cuts(cuts: Records) -> Records:
    """CUT sorted by document and place; overlapping and touching ones become one."""
    cuts = np.sort(cuts, order=("index", "start", "end"))
    if not len(cuts):
        return cuts
    # One axis for all documents: a document's spans lie in a stretch of 2^32 of their own.
    base = cuts["index"].astype(np.int64) << 32
    reach = np.maximum.accumulate(base + cuts["end"])
    first = np.concatenate(([True], base[1:] + cuts["start"][1:] > reach[:-1]))
    merged = cuts[first]
    merged["end"] = reach[np.concatenate((first[1:], [True]))] & 0xFFFFFFFF
    return merged


def load_outcome(work: Path, shard: int) -> Outcome:
    """The outcome of one shard, in the engine's form."""
    path = _outcome_file(work, shard, "drops")
    if not path.exists():
        raise MissingError(f"{path} does not exist: resolve the step before its outcome is read")
    documents = count_records(sign_file(work, shard, "documents"), DOCUMENT)
    drops, cuts = read_group(path, DROP, 0), read_group(_outcome_file(work, shard, "cuts"), CUT, 0)
    match, pair = np.full(documents, -1, np.int64), np.full(documents, -1, np.int64)
    similarity = np.full(documents, np.nan, np.float32)
    match[drops["index"]], pair[drops["index"]] = drops["match"], drops["pair"]
    similarity[drops["index"]] = drops["similarity"]
    spans: dict[int, Spans] = {}
    for index, start, end in cuts.tolist():
        spans.setdefault(index, []).append((start, end))
    return Outcome(match >= 0, match, pair, similarity, spans)


@dataclass(frozen=True, slots=True)
class Dropped:
    """Which documents a resolved step dropped."""

    work: Path
    resolution: tuple[int, int]
    """Of which resolution: another one writes another done.json."""
    bits: dict[int, npt.NDArray[np.uint8]]
    """shard -> a bit a document, for the shards that were asked for."""

    def of(self, shard: int, index: npt.NDArray[np.integer[Any]]) -> Bools:
        """(n,) whether the documents at `index` (n,) of a shard were dropped."""
        if shard not in self.bits:
            all_flags = np.zeros(count_records(sign_file(self.work, shard, "documents"), DOCUMENT), np.bool_)
            all_flags[read_group(_outcome_file(self.work, shard, "drops"), DROP, 0)["index"]] = True
            self.bits[shard] = np.packbits(all_flags, bitorder="little")
        flags: Bools = (self.bits[shard][index >> 3] >> (index & 7).astype(np.uint8) & 1).astype(np.bool_)
        return flags


_DROPPED: dict[Path, Dropped] = {}
"""The tables of this process: every band of every range asks for all shards."""


def find_dropped(work: Path) -> Dropped:
    """What the step in `work` dropped, as far as it was read already; that of an older resolution is forgotten."""
    try:
        done = (work / "done.json").stat()
    except FileNotFoundError:
        raise MissingError(f"{work} has no outcome: resolve the step before its outcome is read") from None
    resolution = (done.st_ino, done.st_mtime_ns)
    if work not in _DROPPED or _DROPPED[work].resolution != resolution:
        _DROPPED[work] = Dropped(work, resolution, {})
    return _DROPPED[work]


def _outcome_file(work: Path, shard: int, kind: str) -> Path:
    return work / OUTCOME / f"{shard:08d}.{kind}"
