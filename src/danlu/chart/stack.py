"""Shares that change in steps, as one SVG: bands one on the other from 0 to 100 %, as wide as their step is long.

Decides: the first band is at the bottom; each is labelled at its last step's height, those that have ended beside the
place where they would be; colours come round after six and are fainter then. The picture is as high as its labels
need. The shares are also said in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from danlu.chart.axis import Axis, label
from danlu.chart.line import spread
from danlu.chart.markup import Html, escape

WIDTH, HEIGHT = 520, 290
_LEFT, _TOP, _BOTTOM = 44, 26, 40
_LABEL_GAP, _CHARACTER = 17, 9.0
_COLOURS = 6
_ROOM = (44, 18)
"""Width and height that a band needs for its share to be written in it."""


@dataclass(frozen=True)
class Band:
    """A name, and its share in each step; the shares of a step sum to 1 over the bands."""

    name: str
    shares: Sequence[float]


def stack_chart(edges: Sequence[float], bands: Sequence[Band], title: str, x_label: str) -> Html:
    """One picture; step i lies between edges i and i + 1, which rise. Shares below zero are refused."""
    if any(not share >= 0 for band in bands for share in band.shares):
        raise ValueError(f"{title}: a share must not be negative or not-a-number")
    height = max(HEIGHT, _TOP + _BOTTOM + _LABEL_GAP * len(bands))
    right = WIDTH - 12 - _CHARACTER * max((len(band.name) for band in bands), default=2)
    # Names of a whole sentence leave a third of the picture to the bands.
    x_axis = Axis(edges[0], edges[-1], _LEFT, max(right, WIDTH / 3))
    y_axis = Axis(0.0, 1.0, height - _BOTTOM, _TOP)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" class="chart">',
        f"<title>{escape(title)}</title><desc>{escape(_describe(bands))}</desc>",
        *_bands(edges, bands, x_axis, y_axis),
        *_axes(edges, x_axis, y_axis, x_label),
        *_labels(bands, x_axis, y_axis),
        "</svg>",
    ]
    return Html("".join(parts))


def _floors(bands: Sequence[Band], step: int) -> list[float]:
    """Where each band begins in a step."""
    return [0.0, *accumulate(band.shares[step] for band in bands)]


def _bands(edges: Sequence[float], bands: Sequence[Band], x_axis: Axis, y_axis: Axis) -> list[str]:
    parts = []
    for step, (first, last) in enumerate(pairwise(edges)):
        left, width = x_axis.place(first), x_axis.place(last) - x_axis.place(first)
        floors = _floors(bands, step)
        for number, band in enumerate(bands):
            if not band.shares[step]:
                continue
            bottom, top = y_axis.place(floors[number]), y_axis.place(floors[number + 1])
            parts.append(
                f'<rect class="band {_colour(number)}" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" '
                f'height="{bottom - top:.1f}"/>'
            )
            if width >= _ROOM[0] and bottom - top >= _ROOM[1]:
                parts.append(
                    f'<text class="inside" x="{left + width / 2:.1f}" y="{(top + bottom) / 2 + 4:.1f}" '
                    f'text-anchor="middle">{band.shares[step]:.0%}</text>'
                )
    return parts


def _axes(edges: Sequence[float], x_axis: Axis, y_axis: Axis, x_label: str) -> list[str]:
    bottom, parts = y_axis.start, []
    for share in (0.0, 0.5, 1.0):
        y = y_axis.place(share) + 4
        parts.append(f'<text class="tick" x="{_LEFT - 7}" y="{y:.1f}" text-anchor="end">{share:.0%}</text>')
    for tick in x_axis.ticks(4):
        x = x_axis.place(tick)
        parts.append(
            f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom:.1f}" y2="{bottom + 4:.1f}"/>'
            f'<text class="tick" x="{x:.1f}" y="{bottom + 18:.1f}" text-anchor="middle">{label(tick)}</text>'
        )
    for number, (first, last) in enumerate(pairwise(edges), 1):
        left, stop = x_axis.place(first), x_axis.place(last)
        if number > 1:
            parts.append(
                f'<line class="mark" x1="{left:.1f}" x2="{left:.1f}" y1="{_TOP - 6}" y2="{bottom:.1f}"/>'
            )
        if len(edges) > 2 and stop - left >= _LABEL_GAP:
            parts.append(
                f'<text class="mark-name" x="{(left + stop) / 2:.1f}" y="{_TOP - 9}" '
                f'text-anchor="middle">{number}</text>'
            )
    middle = (_LEFT + x_axis.stop) / 2
    below = bottom + _BOTTOM - 3
    return [
        *parts,
        f'<text class="name" x="{middle:.1f}" y="{below:.1f}" text-anchor="middle">{escape(x_label)}</text>',
    ]


def _labels(bands: Sequence[Band], x_axis: Axis, y_axis: Axis) -> list[str]:
    # Counted upwards, so that of labels at one place the later band's stands higher, as in the stack.
    wanted = [-y_axis.place((low + high) / 2) for low, high in pairwise(_floors(bands, -1))]
    heights = spread(wanted, _LABEL_GAP, -y_axis.start, -y_axis.stop)
    return [
        f'<text class="end {_colour(number)}" x="{x_axis.stop + 7:.1f}" y="{4 - height:.1f}">'
        f"{escape(band.name)}</text>"
        for number, (band, height) in enumerate(zip(bands, heights, strict=True))
    ]


def _colour(number: int) -> str:
    return f"s{number % _COLOURS}" + (" again" if number // _COLOURS % 2 else "")


def _describe(bands: Sequence[Band]) -> str:
    said = (f"{band.name}: {', '.join(f'{share:.1%}' for share in band.shares)}" for band in bands)
    return f"Shares by step. {'; '.join(said)}."
