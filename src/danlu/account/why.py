"""One document's story: where it came from, what every step measured against its threshold, what became of it.

Decides: a step behind the one that dropped a document is told too where it measured, with what it would have said.
Guarantee: everything comes from the ledger and the steps' own `decide`; the one other place that is read is the text
that stays in place of a duplicate. Costs: a pass over the ids of the ledger, or none where the number is given; one
over what its documents match.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from danlu.account.clusters import Copy, copies_of, evidence, fate, located
from danlu.account.funnel import step_of
from danlu.account.ledger import EMPTIED, NO_MATCH, Row, find_rows, list_measures, read_ledger
from danlu.account.samples import excerpts_of
from danlu.account.step import Step
from danlu.account.thresholds import Threshold, find_thresholds
from danlu.errors import MissingError
from danlu.log import human_bytes

COPIES = 20
"""Documents named that were dropped for one."""

_NEAR = 5


@dataclass(frozen=True, slots=True)
class Measurement:
    """A value and the thresholds that it alone is held against."""

    measure: str
    value: float
    thresholds: tuple[Threshold, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one step has to say about a document."""

    step: str
    said: str
    """ "kept it", "did not measure it", "dropped it: ...", "would have dropped it: ...", "would have kept it", or "did
    not see it"."""
    measurements: tuple[Measurement, ...]
    cut_bytes: float = math.nan
    """How much UTF-8 it took out of the text, infinite where all; NaN where it left it as it was."""


@dataclass(frozen=True, slots=True)
class Story:
    """A document's row, what the steps say, and the document that stays in its place, where there is one."""

    row: Row
    excerpt: str
    findings: tuple[Finding, ...]
    other: Row | None
    other_excerpt: str
    pair: Row | None
    """The document that it was found like, where that is another than the one that stays."""
    copies: int
    """How many documents were dropped because this one stays."""
    first_copies: tuple[Copy, ...]
    """The first of these by number."""

    def to_json(self) -> dict[str, Any]:
        """Plain values; what is not a number is null."""
        plain: dict[str, Any] = _without_nan(asdict(self))
        return plain


def tell(corpus: Path, steps: Sequence[Step], key: str) -> list[Story]:
    """The stories of the documents with an id, or of the one with a number. Raises MissingError where there is none."""
    rows = find_rows(corpus, key)
    if not rows and key.isdigit():
        rows = find_rows(corpus, int(key))
    if not rows:
        near = _near(corpus, key)
        hint = f"ids that begin or end so: {', '.join(near)}" if near else "its samples are in corpus.html"
        raise MissingError(f"no document of {corpus} has the id or number {key!r}; {hint}")
    columns = list_measures(corpus)
    return [_story(corpus, steps, row, dict(zip(columns, row.values, strict=True))) for row in rows]


def describe(story: Story) -> str:
    """A story in plain lines."""
    return "\n".join(_lines(story))


def _story(corpus: Path, steps: Sequence[Step], row: Row, values: dict[str, float]) -> Story:
    other, pair = (_find_one(corpus, number) for number in (row.match, row.pair))
    excerpts = excerpts_of(corpus, [row, other] if other else [row])
    return Story(
        row,
        excerpts[row.number],
        tuple(_findings(steps, row, values)),
        other,
        excerpts[other.number] if other else "",
        pair if row.pair != row.match else None,
        *copies_of(corpus, row.number, COPIES),
    )


def _find_one(corpus: Path, number: int) -> Row | None:
    return next(iter(find_rows(corpus, number)), None) if number != NO_MATCH else None


def _findings(steps: Sequence[Step], row: Row, values: dict[str, float]) -> Iterator[Finding]:
    names = [step.name for step in steps]
    dropped_by = step_of(row.reason)
    stopped = (names.index(dropped_by) if dropped_by in names else -1) if row.reason else len(steps)
    for place, step in enumerate(steps):
        measured = [values.get(column, math.nan) for column in step.columns]
        found = tuple(_measurements(step, measured))
        cut = values.get(step.cut_column, math.nan)
        yield Finding(step.name, _said(step, row, place - stopped, measured, cut), found, cut)


def _said(step: Step, row: Row, behind: int, measured: Sequence[float], cut: float) -> str:
    if behind < 0:
        return "did not measure it" if measured and all(map(math.isnan, measured)) else "kept it"
    if behind == 0:
        return f"dropped it: {row.reason}"
    if all(math.isnan(value) for value in measured):
        return "did not see it"
    reason = step.reason(measured, cut)
    return f"would have dropped it: {reason}" if reason else "would have kept it"


def _measurements(step: Step, values: Sequence[float]) -> Iterator[Measurement]:
    thresholds = find_thresholds(step)
    for measure, value in zip(step.measures, values, strict=True):
        yield Measurement(measure, value, tuple(found for found in thresholds if found.measure == measure))


def _near(corpus: Path, key: str) -> list[str]:
    """A few ids that begin or end with what was asked for."""
    near: list[str] = []
    for batch in read_ledger(corpus, ["id"]):
        ids = batch.column("id")
        found = pc.or_(pc.starts_with(ids, key), pc.ends_with(ids, key))
        near += ids.filter(found)[:_NEAR].to_pylist()
        if len(near) >= _NEAR:
            break
    return near[:_NEAR]


def _lines(story: Story) -> Iterator[str]:
    row = story.row
    yield f"{row.id} (number {row.number}), {row.domain}, for {row.split}"
    yield f"from    {row.source} [{row.start}:{row.end}]" + (f", {row.url}" if row.url else "")
    language = row.language or "unknown"
    yield f"text    {human_bytes(row.bytes)}, language {language}, words split as {row.splitter or 'none were needed'}"
    yield f'        "{_one_line(story.excerpt)}"'
    if row.reason:
        yield f"fate    dropped: {row.reason}"
    else:
        yield f"fate    kept, {human_bytes(row.kept_bytes)} after cleaning"
    if row.match != NO_MATCH:
        yield from _match_lines(story)
    for finding in story.findings:
        yield f"{finding.step}: {finding.said}{_cut(finding.cut_bytes)}"
        for measurement in finding.measurements:
            if not math.isnan(measurement.value):
                yield f"    {measurement.measure:<28} {_number(measurement.value):>12}{_held_against(measurement)}"
    if story.copies:
        yield from _copies_lines(story)


def _match_lines(story: Story) -> Iterator[str]:
    row, other = story.row, story.other
    similarity = "" if math.isnan(row.similarity) else f", similarity {row.similarity:.3f}"
    if story.pair:
        yield f"like    {_named(story.pair)}{similarity}"
        similarity = ""
    if other is None:
        yield f"stays   number {row.match}{similarity}, a document of an earlier corpus"
        return
    yield f"stays   {_named(other)}{similarity}"
    if story.other_excerpt:
        yield f'        "{_one_line(story.other_excerpt)}"'


def _copies_lines(story: Story) -> Iterator[str]:
    were = "document was" if story.copies == 1 else "documents were"
    yield f"copies  {story.copies:,} other {were} dropped because this one stays"
    for copy in story.first_copies:
        yield f"        {located(copy.row)}"
        yield f"            {copy.row.reason}, {evidence(copy)}"
    if more := story.copies - len(story.first_copies):
        yield f"        and {more:,} more"


def _named(row: Row) -> str:
    return f"{located(row)}, {fate(row)}"


def _held_against(measurement: Measurement) -> str:
    said = []
    for threshold in measurement.thresholds:
        keys = ", ".join(threshold.keys) or threshold.reason
        beyond = f"  <- {threshold.reason}" if threshold.drops(measurement.value) else ""
        said.append(f"at {threshold.side} {_number(threshold.value)} ({keys}){beyond}")
    return f"   {'; '.join(said)}" if said else ""


def _cut(size: float) -> str:
    """What a step did to the text's length; a repair may make it longer."""
    if math.isnan(size):
        return ""
    if size == EMPTIED:
        return ", left nothing of it"
    if size == 0:
        return ", changed it at the same length"
    return f", took out {size:,.0f} bytes of it" if size > 0 else f", added {-size:,.0f} bytes to it"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value.is_integer() else f"{value:.4g}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
