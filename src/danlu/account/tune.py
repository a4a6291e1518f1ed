"""What other thresholds would keep, from the measures that the ledger stores: no text is read again.

Decides: steps decide again in their order, by their own `decide`; a step that did not change says what it said, and
where a document comes further than before, the steps behind decide for the first time. A key that changes what is
measured or rewritten is refused. Deduplication is not done again: who was dropped as a duplicate stays dropped, and who
is newly kept is compared with nobody. Costs: a pass over the measures from the first changed step on, 60,000 to
150,000 documents a second; bytes are those of the texts as read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import ValidationError

from danlu.account.funnel import Count, Counts, plain_counts, step_of
from danlu.account.ledger import list_measures, measure_values, read_ledger
from danlu.account.samples import COLUMNS, Choice, Sample, sample_at, with_kept_texts
from danlu.account.step import Step
from danlu.config import Origin, apply_settings, nearest, refuse
from danlu.errors import MismatchError, UsageError

EXAMPLES = 3
"""Documents shown of each reason."""

KEPT = ""
"""The reason of a document that is kept."""

RECIPE_PREFIX = "corpus.step."
"""May stand before a step's name."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """What the changed thresholds do. Counts are by reason, in bytes as read; "" is kept."""

    changes: tuple[str, ...]
    """ "step.key: then -> now"."""
    then: Mapping[str, Count]
    now: Mapping[str, Count]
    newly_kept: Mapping[str, Count]
    """By the reason for which these were dropped."""
    newly_dropped: Mapping[str, Count]
    """By the reason for which these would be dropped."""
    unmeasured: int
    """How many of the newly kept a later step never measured: it may still drop them."""
    kept_examples: Mapping[str, list[Sample]]
    dropped_examples: Mapping[str, list[Sample]]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        counts = {
            name: plain_counts(getattr(self, name)) for name in ("then", "now", "newly_kept", "newly_dropped")
        }
        return {**asdict(self), **counts}


def change_steps(steps: Sequence[Step], settings: Sequence[str]) -> list[Step]:
    """The steps with `STEP.KEY=VALUE` texts applied. Raises RecipeError or UsageError where one cannot be applied."""
    changed = {step.name: step for step in steps}
    for name, keys in apply_settings({}, [text.removeprefix(RECIPE_PREFIX) for text in settings]).items():
        if name not in changed:
            raise UsageError(f"--set {name}: no such step in this recipe; {nearest(name, list(changed))}")
        if not isinstance(keys, dict):
            raise UsageError(f"--set {name}: write STEP.KEY=VALUE, e.g. --set length.min_characters=50")
        section = changed[name].settings
        try:
            changed[name] = replace(changed[name], settings=section.model_validate({**dict(section), **keys}))
        except ValidationError as error:
            raise UsageError(f"--set {name}: {refuse(error, type(section), Origin())}") from None
    return list(changed.values())


def try_again(corpus: Path, built: Sequence[Step], wanted: Sequence[Step]) -> Tuned:
    """Decides about every document of a corpus that was `built` with some steps as the `wanted` ones would.

    Raises MismatchError where they are not the same steps in the same order, or a measure is missing; UsageError
    where a change needs the texts.
    """
    changes = _changes(built, wanted)
    columns = [column for step in wanted for column in step.columns]
    measured = set(list_measures(corpus))
    missing = sorted(set(columns) - measured)
    if missing:
        raise MismatchError(f"the ledger of {corpus} has no {missing[0]!r}; build the corpus again")
    trial = _Trial(wanted, {step_of(change) for change in changes}, measured)
    for batch in read_ledger(corpus, [*COLUMNS, "bytes", *trial.columns]):
        trial.decide(batch)
    return trial.result(corpus, changes)


def _changes(built: Sequence[Step], wanted: Sequence[Step]) -> tuple[str, ...]:
    if [step.name for step in built] != [step.name for step in wanted]:
        then, now = (", ".join(step.name for step in steps) for steps in (built, wanted))
        raise MismatchError(
            f"the corpus was built with the steps {then}, the recipe has {now}; `danlu corpus build` applies them"
        )
    changes = []
    for before, after in zip(built, wanted, strict=True):
        old, new = before.settings.model_dump(), after.settings.model_dump()
        for key in (key for key in new if old[key] != new[key]):
            if after.module is None:
                raise UsageError(
                    f"{after.name}.{key}: deduplication compares texts and is not done again here; "
                    f"`danlu corpus build` does it"
                )
            if key in after.remeasure:
                raise UsageError(
                    f"{after.name}.{key} changes what is measured, not only what is decided; `danlu corpus build` "
                    f"measures again"
                )
            changes.append(f"{after.name}.{key}: {old[key]!r} -> {new[key]!r}")
    return tuple(changes)


class _Trial:
    """The counters of one pass."""

    def __init__(self, steps: Sequence[Step], changed: set[str], measured: set[str]) -> None:
        self._steps = steps
        self._measured = measured
        self._place = {step.name: place for place, step in enumerate(steps)}
        self._changed = [step.name in changed for step in steps]
        self._first = self._changed.index(True) if changed else len(steps)
        self._moves: dict[tuple[str, str], list[int]] = {}
        """(reason then, reason now) -> documents, bytes."""
        self._unmeasured = 0
        self._kept: Choice[Sample] = Choice(EXAMPLES)
        self._dropped: Choice[Sample] = Choice(EXAMPLES)

    @property
    def columns(self) -> list[str]:
        """What it needs: the measures and cuts of the first changed step and of all behind."""
        steps = self._steps[self._first :]
        cuts = [step.cut_column for step in steps if step.cut_column in self._measured]
        return [column for step in steps for column in step.columns] + cuts

    def decide(self, batch: pa.RecordBatch) -> None:
        """Counts a batch as it was and as it would be."""
        reasons, sizes = batch.column("reason").to_pylist(), batch.column("bytes").to_pylist()
        unread: list[list[list[float]]] = [[]] * self._first
        values = unread + [self._values(batch, step).tolist() for step in self._steps[self._first :]]
        for row, (reason, size) in enumerate(zip(reasons, sizes, strict=True)):
            now = self._reason_now(reason, values, row)
            count = self._moves.setdefault((reason, now), [0, 0])
            count[0] += 1
            count[1] += size
            if reason and not now:
                self._unmeasured += self._is_unmeasured(reason, values, row)
                _show(self._kept, reason, batch, row)
            elif now and not reason:
                _show(self._dropped, now, batch, row)

    def _reason_now(self, reason: str, values: Sequence[list[list[float]]], row: int) -> str:
        """The first step that drops it now. Unchanged steps before the one that dropped it have kept it."""
        stopped = self._stopped(reason)
        if stopped < self._first:
            return reason
        for place in range(self._first, len(self._steps)):
            if place <= stopped and not self._changed[place]:
                if place == stopped:
                    return reason
            else:
                *measured, cut = values[place][row]
                if now := self._steps[place].reason(measured, cut):
                    return now
        return KEPT

    def _stopped(self, reason: str) -> int:
        """The place of the step that dropped it; behind all steps where it is kept, before all for another cause."""
        return self._place.get(step_of(reason), -1) if reason else len(self._steps)

    def _is_unmeasured(self, reason: str, values: Sequence[list[list[float]]], row: int) -> bool:
        later = values[self._stopped(reason) + 1 :]
        measured = (rows[row][:-1] for rows in later)
        return any(bool(found) and all(map(math.isnan, found)) for found in measured)

    def _values(self, batch: pa.RecordBatch, step: Step) -> npt.NDArray[np.float64]:
        """A step's measures, and behind them what it cut, (rows, measures + 1)."""
        columns = [measure_values(batch, name) for name in step.columns]
        cuts = step.cut_column in self._measured
        columns.append(measure_values(batch, step.cut_column) if cuts else np.full(batch.num_rows, math.nan))
        return np.stack(columns, axis=1)

    def result(self, corpus: Path, changes: tuple[str, ...]) -> Tuned:
        """The counts, in the order of the steps, with examples."""
        dropped = {reason: with_kept_texts(corpus, found) for reason, found in self._dropped.chosen().items()}
        return Tuned(
            changes,
            self._counted((then, then, now) for then, now in self._moves),
            self._counted((now, then, now) for then, now in self._moves),
            self._counted((then, then, now) for then, now in self._moves if then and not now),
            self._counted((now, then, now) for then, now in self._moves if now and not then),
            self._unmeasured,
            self._kept.chosen(),
            dropped,
        )

    def _counted(self, moves: Iterable[tuple[str, str, str]]) -> Counts:
        """The moves (under which reason, then, now) summed up, in the order of the steps."""
        counts: Counts = {}
        for reason, then, now in moves:
            counts[reason] = counts.get(reason, Count()) + Count(*self._moves[then, now])
        return dict(sorted(counts.items(), key=lambda item: (self._stopped(item[0]), item[0])))


def _show(choice: Choice[Sample], reason: str, batch: pa.RecordBatch, row: int) -> None:
    sample_key = f"{batch.column('domain')[row].as_py()}/{batch.column('id')[row].as_py()}"
    rank = choice.wants(reason, sample_key)
    if rank is not None:
        choice.add(reason, rank, batch.column("number")[row].as_py(), sample_at(batch, row))
