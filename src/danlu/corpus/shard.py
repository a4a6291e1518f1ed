"""One round over one shard: the task that everything in a corpus is made of.

Reads the shard (or what the round before left of it), applies what deduplication found, runs the round's steps, signs
for the next deduplication, and writes survivors, the ledger's rows of what was dropped, and damages. Read `run_round`
first. Guarantees: idempotent: the same bytes whenever and wherever it runs; `done.json` is written last; every document
is in what it writes. Costs: one pass; memory a document, open groups of rows, and an open part a split and domain.
"""

from __future__ import annotations

import math
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from danlu.account.ledger import CUT_BYTES, EMPTIED, NOTHING_LEFT, Row, excerpt_of, ledger_path
from danlu.account.writing import merge_ledgers, new_ledger
from danlu.corpus.carry import Passing, read_carried, write_carried
from danlu.corpus.found import Found, apply_found
from danlu.corpus.job import IDS, Job, dedups_of, load_job
from danlu.corpus.rounds import STOPS, columns_of, module_of
from danlu.corpus.settings import name_of
from danlu.corpus.split import VALIDATION, split_of
from danlu.corpus.write import Lines, PartWriter
from danlu.dedup.contract import Signer, open_signer
from danlu.dedup.settings import Decontaminate, Exact
from danlu.files import disk_errors, read_json, write_json
from danlu.formats.raw import Damage
from danlu.read.shards import read_shard
from danlu.rules.settings import Rule
from danlu.words.text import Text, WordsSetting

KEPT = Found("", "")
DONE, LEDGER, CARRIED, DAMAGED = "done.json", "ledger.parquet", "documents.parquet", "damaged.jsonl.zst"
OVERLAPS = "overlaps.jsonl.zst"


def run_round(argument: dict[str, Any]) -> None:
    """The task. `argument`: work, round, shard."""
    job = load_job(Path(argument["work"]))
    number, shard = int(argument["round"]), int(argument["shard"])
    place = job.place(number, shard)
    if is_done(job, number, shard):
        return
    shutil.rmtree(place, ignore_errors=True)
    with disk_errors(place):
        place.mkdir(parents=True)
    with ExitStack() as stack:
        facts = _Round(job, number, shard, place, stack).run()
    if number == len(job.rounds) - 1:
        ledgers = [job.place(before, shard) / LEDGER for before in range(number + 1)]
        merge_ledgers(ledgers, ledger_path(place, shard), facts["documents"])
    write_json(place / DONE, facts)
    if number:
        (job.place(number - 1, shard) / CARRIED).unlink(missing_ok=True)


def is_done(job: Job, number: int, shard: int) -> bool:
    """Whether a round of a shard needs no task any more."""
    return (job.place(number, shard) / DONE).is_file()


def facts_of(job: Job, number: int, shard: int) -> dict[str, Any]:
    """What a finished task counted."""
    value: dict[str, Any] = read_json(job.place(number, shard) / DONE)
    return value


class _Round:
    """The open files of one task, and the way of a document through them."""

    def __init__(self, job: Job, number: int, shard: int, place: Path, stack: ExitStack) -> None:
        self._job, self._number, self._shard, self._place = job, number, shard, place
        self._places = job.places
        self._steps: list[tuple[Any, ModuleType, int]] = []
        for step in job.rounds[number].local:
            first = next((self._places[name] for name in columns_of(step)), 0)
            self._steps.append((step, module_of(step), first))
        self._ledger = stack.enter_context(new_ledger(place / LEDGER, job.columns))
        self._damaged = stack.enter_context(Lines(place / DAMAGED)) if number == 0 else None
        self._overlaps = stack.enter_context(Lines(place / OVERLAPS))
        self._damages: Counter[str] = Counter()
        self._first_damage: dict[str, str] = {}
        self._is_last = number == len(job.rounds) - 1
        self._carry = None if self._is_last else stack.enter_context(write_carried(place / CARRIED))
        self._parts = PartWriter(place) if self._is_last else None
        self._points: dict[str, list[float]] = {}
        self._documents = 0
        self._signers = _open_signers(job, number, shard)

    def run(self) -> dict[str, Any]:
        for passing, found in self._arriving():
            dropped = found or self._steps_of(passing)
            if dropped:
                self._ledger.add(self._row(passing, dropped))
            else:
                self._keep(passing)
        if self._number:
            self._documents = facts_of(self._job, 0, self._shard)["documents"]
        for _, signer in self._signers:
            signer.close(self._documents)
        if self._parts:
            self._parts.close()
        return {
            "documents": self._documents,
            "damaged": dict(sorted(self._damages.items())),
            "first_damage": self._first_damage,
            "points": self._points,
        }

    def _arriving(self) -> Iterator[tuple[Passing, Found | None]]:
        """The documents of the shard, with what deduplication after the last round says against them."""
        if self._number:
            before = self._job.place(self._number - 1, self._shard) / CARRIED
            yield from apply_found(
                self._job, self._number - 1, self._shard, read_carried(before, self._words)
            )
            return
        settings = self._job.settings
        documents = read_shard(
            self._job.shards[self._shard],
            settings.source,
            self._job.base,
            settings.max_document_bytes,
            self._damage,
        )
        for index, document in enumerate(documents):
            text = Text(document.text, document.language, document.metadata, self._words)
            values = [math.nan] * len(self._places)
            self._documents = index + 1
            yield Passing(index, document, text, text.utf8_bytes, values), None

    @property
    def _words(self) -> WordsSetting:
        return self._job.settings.words

    def _damage(self, damage: Damage) -> None:
        assert self._damaged is not None
        self._damages[damage.reason] += 1
        self._first_damage.setdefault(damage.reason, damage.describe())
        self._damaged.add(asdict(damage))

    def _steps_of(self, passing: Passing) -> Found | None:
        """Runs the round's steps; after a drop by a rule the others only measure."""
        dropped: Found | None = None
        text = passing.text
        for step, module, first in self._steps:
            if isinstance(step, Rule) and not step.concerns(text.language, passing.document.domain):
                continue
            before = text
            text, values = module.measure(before, step)
            if isinstance(step, Decontaminate) and values[0] > 0:
                self._note_overlaps(passing, before, step)
            passing.values[first : first + len(values)] = values
            passing.splitter = text.splitter_used or before.splitter_used or passing.splitter
            nothing_left = text is not before and not text.text.strip()
            if text is not before:
                cut = EMPTIED if nothing_left else before.utf8_bytes - text.utf8_bytes
                passing.values[self._places[f"{name_of(step)}.{CUT_BYTES}"]] = cut
            if dropped is None:
                passing.text = text
                if reason := module.decide(values, step) or (NOTHING_LEFT if nothing_left else ""):
                    dropped = Found(name_of(step), f"{name_of(step)}.{reason}")
                    if step.use in STOPS or not self._job.settings.measure_dropped:
                        break
        return dropped

    def _note_overlaps(self, passing: Passing, text: Text, step: Decontaminate) -> None:
        """Lists what a document has in common with evaluation examples."""
        from danlu.dedup.decontaminate import overlaps

        number = self._shard << 32 | passing.index
        for start, end, found, example in overlaps(text, step):
            place = {"number": number, "id": passing.document.id, "start": start, "end": end}
            self._overlaps.add({**place, "example": example, "text": found})

    def _row(self, passing: Passing, found: Found = KEPT, kept_bytes: int = 0) -> Row:
        document, text = passing.document, passing.text
        return Row(
            number=self._shard << 32 | passing.index,
            id=document.id,
            domain=document.domain,
            source=document.source,
            start=document.start,
            end=document.end,
            bytes=passing.read_bytes,
            split=self._side(passing),
            language=text.language,
            splitter=passing.splitter,
            url=document.metadata.get("url", ""),
            kept_bytes=kept_bytes,
            step=found.step,
            reason=found.reason,
            match=found.match,
            pair=found.pair,
            similarity=found.similarity,
            excerpt=excerpt_of(text.text) if found.reason else "",
            values=tuple(passing.values),
        )

    def _side(self, passing: Passing) -> str:
        return split_of(passing.point, self._job.settings.validation_share)

    def _keep(self, passing: Passing) -> None:
        document = passing.document
        held_out = self._side(passing) == VALIDATION
        for name, signer in self._signers:
            if name != IDS:
                signer.add(passing.index, passing.text, held_out)
            elif document.given_id:
                signer.add(passing.index, Text(f"{document.domain}\n{document.id}"), held_out=False)
        passing.splitter = passing.text.splitter_used or passing.splitter
        if self._carry:
            self._carry.add(passing)
        if self._parts:
            size = passing.text.utf8_bytes
            self._ledger.add(self._row(passing, kept_bytes=size))
            kept = replace(document, text=passing.text.text, language=passing.text.language)
            self._parts.add(self._side(passing), kept, size)
            low, high = self._points.get(document.domain, (passing.point, passing.point))
            self._points[document.domain] = [min(low, passing.point), max(high, passing.point)]


def _open_signers(job: Job, number: int, shard: int) -> list[tuple[str, Signer]]:
    signers = []
    for name, step in dedups_of(job, number):
        shared = step or ID_KEYS
        signers.append((name, open_signer(shared, job.dedup_place(name), shard, job.ranges(name, shared))))
    return signers


ID_KEYS = Exact(ignore_white_space=False)
"""An id is deduplicated as a text of its own: its domain and the id."""
