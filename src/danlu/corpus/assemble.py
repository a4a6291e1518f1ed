"""The finished folder: the shards' parts in order, one ledger, one list of damages, the funnel.

Guarantees: parts are numbered without gaps in the order of the shards. Costs: hard links (a copy where the file system
has none), and a pass over the ledger's counts.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from danlu.account.funnel import Funnel, funnel_of
from danlu.account.ledger import ledger_path
from danlu.corpus.check import find_problem
from danlu.corpus.job import IDS, Job
from danlu.corpus.reference import read_notes
from danlu.corpus.settings import name_of
from danlu.corpus.shard import DAMAGED, OVERLAPS, facts_of
from danlu.corpus.split import SPLITS
from danlu.dedup.settings import Decontaminate
from danlu.files import disk_errors, write_json
from danlu.read.store import list_domains, list_parts, part_path


def assemble(job: Job, whole: Path) -> Funnel:
    """Makes `whole` anew out of what the last round left; its funnel says so where it cannot be trained on."""
    shutil.rmtree(whole, ignore_errors=True)
    with disk_errors(whole):
        whole.mkdir()
        for split in SPLITS:
            _link_parts(job, split, whole)
        shards = [shard.number for shard in job.shards]
        for shard in shards:
            _link(ledger_path(job.place(_last(job), shard), shard), ledger_path(whole, shard))
        damages = [job.place(0, shard) / DAMAGED for shard in shards]
        _join([*damages, *(path for path, _ in read_notes(job))], whole / DAMAGED)
        if any(isinstance(step, Decontaminate) for step in job.settings.step):
            places = [job.place(number, shard) for shard in shards for number in range(len(job.rounds))]
            _join([place / OVERLAPS for place in places], whole / OVERLAPS)
    damaged, first = _damages(job)
    domains = [source.domain for source in job.settings.source]
    steps = (IDS, *map(name_of, job.settings.step))
    funnel = funnel_of(whole, list(dict.fromkeys(domains)), steps, damaged)
    funnel = replace(funnel, problem=find_problem(funnel, _points(job), job.settings.validation_share, first))
    write_json(whole / "funnel.json", funnel.to_json())
    return funnel


def _join(files: Sequence[Path], target: Path) -> None:
    """Files of zstd one after another: frames in a row are one stream."""
    with target.open("wb") as out:
        for file in files:
            with file.open("rb") as one:
                shutil.copyfileobj(one, out)
        out.flush()
        os.fsync(out.fileno())


def _last(job: Job) -> int:
    return len(job.rounds) - 1


def _link_parts(job: Job, split: str, whole: Path) -> None:
    places = [job.place(_last(job), shard.number) for shard in job.shards]
    domains = sorted({domain for place in places for domain in list_domains(place, split)})
    for domain in domains:
        parts = [part for place in places for part in list_parts(place, split, domain)]
        for number, part in enumerate(parts):
            _link(part, part_path(whole, split, domain, number))


def _link(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        target.hardlink_to(file)
    except OSError:
        shutil.copyfile(file, target)


def _damages(job: Job) -> tuple[dict[str, int], dict[str, str]]:
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for shard in job.shards:
        facts: dict[str, Any] = facts_of(job, 0, shard.number)
        counts.update(facts["damaged"])
        first = {**facts["first_damage"], **first}
    for _, damaged in read_notes(job):
        counts.update(damaged)
    return dict(sorted(counts.items())), first


def _points(job: Job) -> dict[str, tuple[float, float]]:
    """By domain, where on the line of the split its kept documents begin and end."""
    points: dict[str, tuple[float, float]] = {}
    for shard in job.shards:
        for domain, (low, high) in facts_of(job, _last(job), shard.number)["points"].items():
            before = points.get(domain, (low, high))
            points[domain] = min(low, before[0]), max(high, before[1])
    return points
