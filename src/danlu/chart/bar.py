"""Horizontal bars as one SVG: a label and its number on one line, a thin bar under them.

Decides: all bars share one scale that starts at zero, so that lengths can be compared; a value above zero is always
visible. Labels are over the bars, so that long ones can be read on a phone too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from danlu.chart.markup import Html, escape

WIDTH = 520
_ROW, _BAR, _SMALLEST = 40, 8, 1.5


@dataclass(frozen=True)
class Bar:
    """A length with its label, and the text that says the value. The tone tells what is kept from what is lost."""

    label: str
    value: float
    text: str
    tone: Literal["plain", "good", "lost"] = "plain"


def bar_chart(bars: Sequence[Bar], title: str) -> Html:
    """One picture of the bars, top to bottom in the order given. Values below zero are refused."""
    if any(not bar.value >= 0 for bar in bars):
        raise ValueError(f"{title}: a bar must not be negative or not-a-number")
    largest = max((bar.value for bar in bars), default=0.0) or 1.0
    said = "; ".join(f"{bar.label}: {bar.text}" for bar in bars)
    height = _ROW * len(bars)
    rows = (_row(number * _ROW, bar, bar.value / largest) for number, bar in enumerate(bars))
    return Html(
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" class="chart">'
        f"<title>{escape(title)}</title><desc>{escape(said)}</desc>{''.join(rows)}</svg>"
    )


def _row(top: int, bar: Bar, share: float) -> str:
    length = max(share * WIDTH, _SMALLEST if share else 0.0)
    return (
        f'<text class="bar-label" x="0" y="{top + 15}">{escape(bar.label)}</text>'
        f'<text class="bar-text" x="{WIDTH}" y="{top + 15}" text-anchor="end">{escape(bar.text)}</text>'
        f'<rect class="track" x="0" y="{top + 22}" width="{WIDTH}" height="{_BAR}" rx="2"/>'
        f'<rect class="bar {bar.tone}" x="0" y="{top + 22}" width="{length:.1f}" height="{_BAR}" rx="2"/>'
    )
