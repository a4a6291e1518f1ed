"""Build the corpus: rounds of tasks over shards, deduplication between them, and the finished folder.

Read `build_corpus` first. Guarantees: the folder is whole or as it was before; a build that was cut off, by kill -9 at
any point too, goes on at the shard where it stopped; the same sources and settings give the same bytes whatever the
engine, the workers and the interruptions. Every document that was read is a row of the ledger, every damage is in
damaged.jsonl.zst with its place. A text that is held out stays held out, whatever is added. Costs: one pass a round
(rounds.py); memory of a worker as in shard.py and dedup/, whatever the size of the corpus; disk beside the corpus: the
survivors of one round and the records of its deduplication, until `clear_work`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from danlu.account.funnel import Funnel
from danlu.corpus.assemble import assemble
from danlu.corpus.job import Job, dedups_of, open_job, path_keys
from danlu.corpus.reference import sign_reference
from danlu.corpus.rounds import module_of
from danlu.corpus.settings import CorpusSettings
from danlu.corpus.shard import ID_KEYS, is_done, run_round
from danlu.dedup.contract import Alive, resolve
from danlu.dedup.settings import Decontaminate, SharedStep
from danlu.files import TEMPORARY, disk_errors, replace_directory
from danlu.jobs.pool import end_nursery
from danlu.jobs.run import Engine, resolve_workers, run_tasks
from danlu.log import say

_WORTH_A_POOL_BYTES = 16_000_000


def build_corpus(settings: CorpusSettings, base: Path, directory: Path) -> Funnel:
    """Reads, cleans, deduplicates and splits all sources into `directory`; paths of sources are relative to `base`.

    What is being done lies in `directory` + ".work" until it is done. Where nothing of a domain is left, or a split
    of one is empty, the funnel's `problem` says so. Raises DanluError where the disk is full: `directory` is then as
    it was.
    """
    work = work_directory(directory).resolve()
    job = open_job(settings, base.resolve(), work)
    engine = Engine(settings.engine, _workers(settings, job), work / "jobs", settings.slurm)
    _forget_files(job)
    _say_examples(job)
    for number in range(len(job.rounds)):
        _do_round(job, number, engine)
    end_nursery()
    whole = work / "whole"
    funnel = assemble(job, whole)
    with disk_errors(directory):
        replace_directory(whole, directory)
    return funnel


def clear_work(directory: Path) -> None:
    """Removes what a build of `directory` worked in, once its result is safe: until then the same call repeats it."""
    shutil.rmtree(work_directory(directory), ignore_errors=True)


def work_directory(directory: Path) -> Path:
    """Where an unfinished build of `directory` lies: it survives what removes temporaries, so that it can go on."""
    name = directory.name.removeprefix(TEMPORARY)
    return directory.with_name(f"{name}.work")


def _forget_files(job: Job) -> None:
    """What steps remember of the files that they name may be of another build in this process."""
    for step in job.settings.step:
        if path_keys(step) and not isinstance(step, SharedStep):
            module_of(step).forget_files()


def _say_examples(job: Job) -> None:
    """What each decontamination looks for, before any text is read: a table that finds nothing is an error here."""
    for step in job.settings.step:
        if isinstance(step, Decontaminate):
            from danlu.dedup.decontaminate import load_table

            known = load_table(step)
            short = f"; {known.too_short:,} are too short to be found" if known.too_short else ""
            say(f"  decontaminate: {len(known.keys):,} n-grams of {len(known.places):,} examples{short}")


def _workers(settings: CorpusSettings, job: Job) -> int:
    """As the recipe says; "auto" starts no process for what one core reads before another has started."""
    if settings.workers == "auto" and settings.engine == "pool" and job.size < _WORTH_A_POOL_BYTES:
        return 1
    return resolve_workers(settings.workers, settings.engine)


def _do_round(job: Job, number: int, engine: Engine) -> None:
    """All shards through one round, then what their signatures say."""
    title = f"corpus, round {number + 1} of {len(job.rounds)}"
    left = [shard for shard in job.shards if not is_done(job, number, shard.number)]
    tasks = [{"work": str(job.work), "round": number, "shard": shard.number} for shard in left]
    run_tasks(run_round, tasks, engine, title, [shard.size for shard in left])
    if number == len(job.rounds) - 1:
        return
    before: list[Path] = []
    shards = [shard.number for shard in job.shards]
    for name, step in dedups_of(job, number):
        place = job.dedup_place(name)
        references = _sign_references(job, name, engine)
        shared = step or ID_KEYS
        resolve(
            shared, place, shards, job.ranges(name, shared), Alive(tuple(before)), _runner(engine), references
        )
        before.append(place)


def _sign_references(job: Job, name: str, engine: Engine) -> list[int]:
    """Signs the earlier corpora that a step compares with; returns the numbers of their shards."""
    shards = job.references.get(name, ())
    tasks = [{"work": str(job.work), "name": name, "shard": shard.number} for shard in shards]
    run_tasks(sign_reference, tasks, engine, "earlier corpora", [shard.size for shard in shards])
    return [shard.number for shard in shards]


def _runner(
    engine: Engine,
) -> Callable[[Callable[[dict[str, Any]], None], Sequence[dict[str, Any]], str], None]:
    def run(task: Callable[[dict[str, Any]], None], arguments: Sequence[dict[str, Any]], title: str) -> None:
        run_tasks(task, arguments, engine, title, None)

    return run
