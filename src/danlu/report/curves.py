"""The report's pictures over training steps: loss, bits per byte, learning rate, speed, gradient norm.

Decides: every logged step takes part; where there are more than fit in a picture, each stretch keeps its lowest and
highest, so that no spike is hidden. The smooth line of the training loss is a trailing mean, and says of how many
steps. Kills are marked where they happened.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from danlu.chart.line import Mark, Series, Style, line_chart
from danlu.chart.markup import Html, columns, figure, join, paragraph
from danlu.monitor.decimate import min_max_decimate
from danlu.report.facts import Facts, Row

NOTE = "Over steps. Training loss is of the batch at hand, validation loss of text that is never trained on."
_POINTS = 1200


def curves(facts: Facts) -> Html:
    """All pictures, two in a row where there is room."""
    marks = _kills(facts)
    pictures = [_loss(facts, marks), *_loss_after_the_fall(facts, marks), *_bits(facts, marks)]
    for key, title, label, log in (
        ("learning_rate", "Learning rate", "learning rate", False),
        ("grad_norm", "Gradient norm", "norm before clipping (log)", True),
        ("tokens_per_second", "Speed", "tokens/s", False),
    ):
        if any(row.get(key) is not None for row in facts.metrics):
            style: Style = "solid" if key == "learning_rate" or len(facts.metrics) < 300 else "fine"
            line = _series(title.lower(), facts.metrics, key, style=style)
            chart = line_chart([line], title, "step", label, log=log, marks=marks)
            pictures.append(figure(chart, _CAPTIONS[key]))
    return join([columns(pictures), *_gaps(facts)])


_CAPTIONS = {
    "learning_rate": "Learning rate, as the schedule set it.",
    "grad_norm": "Norm of the whole gradient before it is clipped.",
    "tokens_per_second": "Tokens a second of each step; evaluations and saves are not counted.",
}


def trailing_mean(values: Sequence[float], window: int) -> list[float]:
    """The mean of each value and up to window - 1 before it; what is not finite takes no part."""
    array = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(array)
    sums = np.cumsum(np.where(finite, array, 0.0))
    counts = np.cumsum(finite)
    before_sums = np.concatenate([np.zeros(min(window, len(array))), sums[:-window]])
    before_counts = np.concatenate([np.zeros(min(window, len(array))), counts[:-window]])
    number = counts - before_counts
    means = np.where(number > 0, (sums - before_sums) / np.maximum(number, 1), np.nan)
    return [float(mean) for mean in means]


def _loss(facts: Facts, marks: Sequence[Mark]) -> Html:
    series = _loss_lines(facts, 0)
    window = _window(facts)
    mean = f" The training line is the mean of {window} steps, with the single steps behind it."
    caption = "Loss in nats per token." + (mean if window > 1 else "")
    return figure(line_chart(series, "Loss", "step", "loss (nats per token)", marks=marks), caption)


def _loss_after_the_fall(facts: Facts, marks: Sequence[Mark]) -> list[Html]:
    """The same without the first fifth, whose fall leaves no room for the rest."""
    first = facts.metrics[-1]["step"] // 5
    if len(facts.metrics) < 150 or not first:
        return []
    title = f"Loss from step {first:,} on"
    later = [mark for mark in marks if mark.x >= first]
    chart = line_chart(_loss_lines(facts, first), title, "step", "loss (nats per token)", marks=later)
    return [figure(chart, f"The same from step {first:,} on, so that the later progress can be seen.")]


def _loss_lines(facts: Facts, first: int) -> list[Series]:
    steps = [float(row["step"]) for row in facts.metrics]
    losses = [_number(row.get("loss")) for row in facts.metrics]
    smooth = trailing_mean(losses, _window(facts))
    start = bisect_left(steps, first)
    return [
        Series("each step", *_thinned(steps[start:], losses[start:]), colour=0, style="faint"),
        Series("train", *_thinned(steps[start:], smooth[start:]), colour=0),
        *_validation(facts, "loss", first),
    ]


def _window(facts: Facts) -> int:
    return max(1, len(facts.metrics) // 50)


def _bits(facts: Facts, marks: Sequence[Mark]) -> list[Html]:
    series = _validation(facts, "bits_per_byte")
    if not series:
        return []
    chart = line_chart(series, "Bits per byte", "step", "bits per byte, validation", marks=marks)
    return [figure(chart, "Validation text in bits per byte, which does not depend on the tokenizer.")]


def _validation(facts: Facts, key: str, first: int = 0) -> list[Series]:
    # A curve through measurements of different extent would jump where the extent does.
    parts = [row for row in facts.evaluations if not row.get("whole")]
    rows = [row for row in parts or facts.evaluations if row["step"] >= first]
    domains = sorted({str(row["domain"]) for row in rows})
    return [
        _series(
            domain,
            [row for row in rows if row["domain"] == domain],
            key,
            colour=1 + number,
            style="points" if len(rows) <= 40 * len(domains) else "solid",
        )
        for number, domain in enumerate(domains)
    ]


def _series(name: str, rows: Sequence[Row], key: str, colour: int = 0, style: Style = "solid") -> Series:
    xs = [float(row["step"]) for row in rows]
    ys = [_number(row.get(key)) for row in rows]
    return Series(name, *_thinned(xs, ys), colour=colour, style=style)


def _thinned(xs: Sequence[float], ys: Sequence[float]) -> tuple[list[float], list[float]]:
    if len(xs) <= _POINTS:
        return list(xs), list(ys)
    kept_xs, kept_ys = min_max_decimate(xs, ys, _POINTS)
    return kept_xs.tolist(), kept_ys.tolist()


def _kills(facts: Facts) -> list[Mark]:
    return [
        Mark(float(row["step"]), "killed")
        for row in facts.events
        if row["kind"] == "killed" and isinstance(row.get("step"), int)
    ]


def _gaps(facts: Facts) -> list[Html]:
    lost = sum(not math.isfinite(_number(row.get("loss"))) for row in facts.metrics)
    return [paragraph(f"{lost} steps logged a loss that is not finite.", "note")] if lost else []


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
