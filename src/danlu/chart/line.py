"""A line chart as one SVG: thin axes, each line labelled at its end, colours that follow the page's light or dark.

Decides: a value that is not finite breaks the line; on a logarithmic axis so does one that is not positive. Every point
given is drawn: thinning out, where it is needed, is the caller's, who knows what must be kept. The picture has a title
and a description in words for those who cannot see it. Costs: about 12 bytes a point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from danlu.chart.axis import Axis, label, make_axis
from danlu.chart.markup import Html, escape

WIDTH, HEIGHT = 520, 290
_LEFT, _TOP, _BOTTOM = 52, 36, 40
_LABEL_GAP = 17
_CHARACTER = 9.0
"""Pixels of a label's character, of the larger letters that small screens get."""

Style = Literal["solid", "fine", "faint", "points"]


@dataclass(frozen=True)
class Series:
    """A named line. `colour` counts the page's series colours from 0; a fine line is for noise,
    a faint one lies behind others and has no label."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    colour: int = 0
    style: Style = "solid"


@dataclass(frozen=True)
class Mark:
    """An event at an x: a thin vertical line with a word at its top."""

    x: float
    text: str


def line_chart(
    series: Sequence[Series],
    title: str,
    x_label: str,
    y_label: str,
    log: bool = False,
    marks: Sequence[Mark] = (),
) -> Html:
    """One picture of one or several lines over the same axes; `log` is of the y axis."""
    labelled = [line for line in series if line.style != "faint" and _last(line, log) is not None]
    names = [_end_label(line, log, alone=len(labelled) == 1) for line in labelled]
    right = WIDTH - 12 - _CHARACTER * max((len(name) for name in names), default=2)
    x_axis = make_axis((x for line in series for x in line.xs), _LEFT, right, padding=0.0)
    y_axis = make_axis((y for line in series for y in line.ys), HEIGHT - _BOTTOM, _TOP, log=log)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" class="chart">',
        f"<title>{escape(title)}</title><desc>{escape(_describe(series, x_label, log))}</desc>",
        *_axes(x_axis, y_axis, x_label, y_label),
        *_marks(marks, x_axis),
        *(_line(line, x_axis, y_axis) for line in series),
        *_end_labels(labelled, names, y_axis, right),
        "</svg>",
    ]
    return Html("".join(parts))


def _axes(x_axis: Axis, y_axis: Axis, x_label: str, y_label: str) -> list[str]:
    parts = []
    for tick in y_axis.ticks(5):
        y = y_axis.place(tick)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{x_axis.stop:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(
            f'<text class="tick" x="{_LEFT - 7}" y="{y + 4:.1f}" text-anchor="end">{label(tick)}</text>'
        )
    bottom = HEIGHT - _BOTTOM
    parts.append(f'<line class="axis" x1="{_LEFT}" x2="{x_axis.stop:.1f}" y1="{bottom}" y2="{bottom}"/>')
    for tick in x_axis.ticks(4):
        x = x_axis.place(tick)
        parts.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 4}"/>')
        parts.append(
            f'<text class="tick" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{label(tick)}</text>'
        )
    middle = (_LEFT + x_axis.stop) / 2
    parts.append(
        f'<text class="name" x="{middle:.1f}" y="{HEIGHT - 3}" text-anchor="middle">{escape(x_label)}</text>'
    )
    parts.append(f'<text class="name" x="0" y="13">{escape(y_label)}</text>')
    return parts


def _marks(marks: Sequence[Mark], x_axis: Axis) -> list[str]:
    parts = []
    for mark in marks:
        x = x_axis.place(mark.x)
        parts.append(
            f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 1}" y2="{HEIGHT - _BOTTOM}"/>'
        )
        parts.append(
            f'<text class="mark-name" text-anchor="middle" x="{x:.1f}" y="{_TOP - 5}">{escape(mark.text)}</text>'
        )
    return parts


def _line(line: Series, x_axis: Axis, y_axis: Axis) -> str:
    drawn = [
        (x_axis.place(x), y_axis.place(y)) if _drawable(y, y_axis.log) else None
        for x, y in zip(line.xs, line.ys, strict=True)
    ]
    colour = f"s{line.colour % 6}"
    # A single point between two gaps has no line, and a short series is easier to read with its points.
    alone = [
        point
        for i, point in enumerate(drawn)
        if point and (i == 0 or drawn[i - 1] is None) and (i + 1 == len(drawn) or drawn[i + 1] is None)
    ]
    dots = [point for point in drawn if point] if line.style == "points" else alone
    circles = "".join(f'<circle class="{colour}" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>' for x, y in dots)
    return f'<path class="{colour} {line.style}" d="{_path(drawn)}"/>{circles}'


def _path(points: Sequence[tuple[float, float] | None]) -> str:
    commands, pen_down = [], False
    for point in points:
        if point is not None:
            commands.append(f"{'L' if pen_down else 'M'}{point[0]:.1f} {point[1]:.1f}")
        pen_down = point is not None
    return "".join(commands)


def _end_labels(lines: Sequence[Series], names: Sequence[str], y_axis: Axis, right: float) -> list[str]:
    wanted = [y_axis.place(last) for line in lines if (last := _last(line, y_axis.log)) is not None]
    places = spread(wanted, _LABEL_GAP, _TOP, HEIGHT - _BOTTOM)
    return [
        f'<text class="end s{line.colour % 6}" x="{right + 7:.1f}" y="{y + 4:.1f}">{escape(name)}</text>'
        for line, name, y in zip(lines, names, places, strict=True)
    ]


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Moves labels apart to at least `gap`, in their order, within [low, high] where they fit."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    moved = list(places)
    floor = low
    for i in order:
        moved[i] = max(places[i], floor)
        floor = moved[i] + gap
    ceiling = high
    for i in reversed(order):
        moved[i] = min(moved[i], ceiling)
        ceiling = moved[i] - gap
    return moved


def _drawable(value: float, log: bool) -> bool:
    return math.isfinite(value) and (value > 0 or not log)


def _last(line: Series, log: bool) -> float | None:
    return next((y for y in reversed(line.ys) if _drawable(y, log)), None)


def _end_label(line: Series, log: bool, alone: bool) -> str:
    last = _last(line, log)
    value = "" if last is None else _three_digits(last)
    return value if alone else f"{line.name} {value}"


def _three_digits(value: float) -> str:
    """2.4 -> "2.40", so that labels one above the other are equally exact; large and tiny ones as on the axis."""
    if 0.001 <= abs(value) < 999.5:
        return f"{value:#.3g}".removesuffix(".")
    return label(float(f"{value:.3g}"))


def _describe(series: Sequence[Series], x_label: str, log: bool) -> str:
    said = []
    for line in series:
        values = [y for y in line.ys if _drawable(y, log)]
        if values:
            said.append(
                f"{line.name}: {values[0]:.4g} at first, {values[-1]:.4g} at last, "
                f"lowest {min(values):.4g}, highest {max(values):.4g}"
            )
    return f"Over {x_label}. " + "; ".join(said or ["no values"]) + "."
