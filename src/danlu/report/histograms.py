"""What every step measured, as one histogram a measure with the thresholds marked and what lies beyond them counted.

Decides: of a large corpus a sample is drawn, by the hash of the documents' numbers, so the pictures are the same each
time; a measure that is the same for all documents is named and not drawn. Costs: a pass over the measures; memory
`SAMPLE` values a measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from danlu.account.ledger import measure_values, read_ledger
from danlu.account.step import Step
from danlu.account.thresholds import Threshold, find_thresholds
from danlu.chart.axis import label
from danlu.chart.histogram import Cut, histogram
from danlu.chart.markup import Html, columns, figure, heading, join, paragraph
from danlu.rng import mix

SAMPLE = 100_000
"""Documents looked at, about."""

_NOTE = (
    "Where an earlier step ended a document, later ones did not measure it. "
    "What lies outside an axis is in its first or last bar."
)

Values = npt.NDArray[np.float64]


def histograms(corpus: Path, steps: Sequence[Step], documents: int) -> Html:
    """The histograms of all steps that measured something, of a corpus of so many documents as read."""
    share = min(1.0, SAMPLE / max(documents, 1))
    values = sample_measures(corpus, [column for step in steps for column in step.columns], share)
    parts = [_of_step(step, values) for step in steps if step.columns]
    note = f"Of a sample of {share:.2%} of the documents." if share < 1 else "Of all documents."
    return join([paragraph(f"{note} {_NOTE}", "note"), *parts])


def sample_measures(corpus: Path, names: Sequence[str], share: float) -> dict[str, Values]:
    """Column -> its values of about `share` of the documents, without those that were not measured."""
    found: dict[str, list[Values]] = {name: [] for name in names}
    limit = np.uint64(min(int(share * 2.0**64), 2**64 - 1))
    for batch in read_ledger(corpus, ["number", *names]):
        numbers = batch.column("number").to_numpy(zero_copy_only=False).astype(np.uint64)
        chosen = mix(numbers) <= limit
        for name in names:
            values = measure_values(batch, name)[chosen]
            found[name].append(values[np.isfinite(values)])
    return {name: np.concatenate(parts) if parts else np.empty(0) for name, parts in found.items()}


def _of_step(step: Step, values: dict[str, Values]) -> Html:
    thresholds = find_thresholds(step)
    drawn, same = [], []
    for measure, column in zip(step.measures, step.columns, strict=True):
        found = values[column]
        if len(found) and found.min() < found.max():
            drawn.append(_picture(measure, found, [one for one in thresholds if one.measure == measure]))
        elif len(found):
            same.append(f"{_words(measure)} ({found[0]:g})")
    parts = [heading(step.name), columns(drawn)]
    if same:
        parts.append(paragraph(f"The same for every document: {', '.join(same)}.", "note"))
    if not drawn and not same:
        parts = [heading(step.name), paragraph("It measured no document.", "missing")]
    return join(parts)


def _picture(measure: str, values: Values, thresholds: Sequence[Threshold]) -> Html:
    cuts = [Cut(one.value, one.side, one.keys[0] if one.keys else one.reason) for one in thresholds]
    beyond = [f"{_share_beyond(values, one)} {_beyond(one)}" for one in thresholds]
    caption = f"{_words(measure)}: {', '.join(beyond) or 'no threshold of its own'}."
    return figure(histogram(values, _words(measure), cuts), caption)


def _share_beyond(values: Values, threshold: Threshold) -> str:
    lost = values < threshold.value if threshold.side == "least" else values > threshold.value
    number = int(np.count_nonzero(lost))
    return f"{number / len(values):.2%}" if number else "none"


def _beyond(threshold: Threshold) -> str:
    side = "below" if threshold.side == "least" else "above"
    return f"{side} {label(threshold.value)} ({threshold.reason.replace('_', ' ')})"


def _words(measure: str) -> str:
    return measure.replace("_", " ")
