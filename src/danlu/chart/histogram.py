"""A histogram as one SVG, with the thresholds that cut it: what lies beyond one is drawn as lost.

Decides: shares are on a logarithmic scale, since the tail that a threshold cuts is often a hundredth of the peak; what
is outside the axis is counted in its first or last bar; a threshold far outside is named at the edge. A measure that
spans powers of ten gets a logarithmic axis. Costs: 60 bytes a bar.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from danlu.chart.axis import Axis, label, make_axis
from danlu.chart.markup import Html, escape

WIDTH, HEIGHT = 520, 200
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 512, 38, 24
_NAME_ROWS = {"least": 13, "most": 29}
"""Names of lower and of upper thresholds have a row each, so that they do not run into one another."""
_BINS = 44
_OUTER = 0.002
"""The share of values at each end that does not stretch the axis."""
_STRETCH = 4.0
"""A threshold stretches a linear axis up to so many times its length."""
_DECADES = 30.0
"""From this ratio of a high to a middle value on, the axis is logarithmic."""

_LABELLED = 5
"""Up to so many powers of ten are all labelled, of more every second."""

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Cut:
    """A threshold: the least or the most that is kept, and its name."""

    value: float
    side: Literal["least", "most"]
    name: str


def histogram(values: Values, title: str, cuts: Sequence[Cut] = ()) -> Html:
    """One picture of (n,) finite values, n at least 1."""
    axis = _axis(values, cuts)
    edges = _edges(axis, cuts)
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    shares = counts / len(values)
    lowest = shares[shares > 0].min()
    heights = Axis(min(lowest, 0.1) / 2, 1.0, HEIGHT - _BOTTOM, _TOP, log=True)
    bars = [
        _bar(axis, heights, low, high, share, _is_lost(low, high, cuts))
        for low, high, share in zip(edges, edges[1:], shares, strict=False)
        if share > 0
    ]
    said = f"{len(values):,} values, half of them below {label(float(np.median(values)))}. " + "; ".join(
        f"{cut.name}: kept from {label(cut.value)} on"
        if cut.side == "least"
        else f"{cut.name}: kept up to {label(cut.value)}"
        for cut in cuts
    )
    return Html(
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" class="chart">'
        f"<title>{escape(title)}</title><desc>{escape(said)}</desc>"
        f"{''.join(_lines(heights))}{''.join(bars)}{''.join(_ticks(axis))}"
        f"{''.join(_mark(axis, cut) for cut in cuts)}</svg>"
    )


def _axis(values: Values, cuts: Sequence[Cut]) -> Axis:
    low, middle, high = (float(value) for value in np.quantile(values, [_OUTER, 0.5, 1 - _OUTER]))
    if low >= 0 and high > _DECADES * max(middle, 1.0):
        lowest = max(float(values[values > 0].min()), 1.0)
        return Axis(*_reach(lowest, max(high, 2 * lowest), cuts, log=True), _LEFT, _RIGHT, log=True)
    if low == high:
        return make_axis([low], _LEFT, _RIGHT)
    return Axis(*_reach(low, high, cuts, log=False), _LEFT, _RIGHT)


def _reach(low: float, high: float, cuts: Sequence[Cut], log: bool) -> tuple[float, float]:
    """The ends of the axis, moved out for thresholds that are not too far away."""
    room = high - low
    for cut in cuts:
        near = cut.value > 0 if log else low - _STRETCH * room <= cut.value <= high + _STRETCH * room
        if near:
            low, high = min(low, cut.value), max(high, cut.value)
    if log:
        return low / 1.2, high * 1.2
    return (low if low == 0 else low - 0.02 * (high - low)), high + 0.03 * (high - low)


def _edges(axis: Axis, cuts: Sequence[Cut]) -> Values:
    """Edges of the bars; each threshold within is one, so that no bar is half lost."""
    spaced = np.geomspace if axis.log else np.linspace
    edges = spaced(axis.low, axis.high, _BINS + 1)
    inside = [cut.value for cut in cuts if axis.low < cut.value < axis.high]
    # The most that is kept belongs to the bar before it: the edge is the next number.
    exact = [math.nextafter(cut.value, math.inf) if cut.side == "most" else cut.value for cut in cuts]
    exact = [value for value in exact if axis.low < value < axis.high]
    room = np.diff(edges)
    far = [
        edge
        for edge, width in zip(edges[1:-1], room[1:], strict=True)
        if all(abs(edge - value) > width / 2 for value in inside)
    ]
    return np.array(sorted({float(edges[0]), *map(float, far), *exact, float(edges[-1])}))


def _is_lost(low: float, high: float, cuts: Sequence[Cut]) -> bool:
    return any(high <= cut.value if cut.side == "least" else low > cut.value for cut in cuts)


def _bar(axis: Axis, heights: Axis, low: float, high: float, share: float, lost: bool) -> str:
    left, right, top = axis.place(low), axis.place(high), heights.place(share)
    gap = 0.8 if right - left > 3 else 0.0
    return (
        f'<rect class="bar{" lost" if lost else ""}" x="{left:.1f}" y="{top:.1f}" '
        f'width="{right - left - gap:.1f}" height="{HEIGHT - _BOTTOM - top:.1f}"/>'
    )


def _lines(heights: Axis) -> list[str]:
    parts = []
    exponents = range(math.ceil(math.log10(heights.low)), 1)
    for exponent in exponents:
        y = heights.place(10.0**exponent)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        if exponent % 2 == 0 or len(exponents) <= _LABELLED:
            percent = f"{10.0 ** (exponent + 2):g}%"
            parts.append(
                f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{percent}</text>'
            )
    return parts


def _ticks(axis: Axis) -> list[str]:
    bottom = HEIGHT - _BOTTOM
    parts = [f'<line class="axis" x1="{_LEFT}" x2="{_RIGHT}" y1="{bottom}" y2="{bottom}"/>']
    for tick in axis.ticks(5):
        x = axis.place(tick)
        parts.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 4}"/>')
        parts.append(
            f'<text class="tick" x="{x:.1f}" y="{HEIGHT - 5}" text-anchor="middle">{label(tick)}</text>'
        )
    return parts


def _mark(axis: Axis, cut: Cut) -> str:
    """A line with its name; a threshold beyond the axis is an arrow at that end."""
    inside = axis.low <= cut.value <= axis.high
    x = axis.place(min(max(cut.value, axis.low), axis.high))
    anchor = "start" if x < (_LEFT + _RIGHT) / 2 else "end"
    name = f"{cut.name} {label(cut.value)}" + ("" if inside else " →" if cut.value > axis.high else " ←")
    line = (
        f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{_NAME_ROWS[cut.side] + 4}" y2="{HEIGHT - _BOTTOM}"/>'
        if inside
        else ""
    )
    return (
        f'{line}<text class="mark-name" x="{x:.1f}" y="{_NAME_ROWS[cut.side]}" text-anchor="{anchor}">'
        f"{escape(name)}</text>"
    )
