"""Scales and ticks: where a number falls on an axis, which numbers are written on it, and how.

Decides: linear ticks are 1, 2 or 5 times a power of ten; a logarithmic axis is labelled at powers of ten, or at
1, 2, 5 where it spans less than two of them. The ends of the axis are the ends of the data, padded a little.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """Maps [low, high] to pixels [start, stop], linearly or by logarithm."""

    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    def place(self, value: float) -> float:
        """The pixel of a value; a value that a logarithm cannot show goes to the low end."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        share = (self._scaled(max(value, self.low) if self.log else value) - low) / (high - low)
        return self.start + share * (self.stop - self.start)

    def ticks(self, count: int) -> list[float]:
        """About `count` round numbers within the axis."""
        if self.log and self.high / self.low >= 4:
            return log_ticks(self.low, self.high, count)
        return linear_ticks(self.low, self.high, count)

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.log else value


def make_axis(
    values: Iterable[float], start: float, stop: float, log: bool = False, padding: float = 0.04
) -> Axis:
    """An axis that holds every finite value (for a logarithm: every positive one)."""
    usable = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
    low, high = (min(usable), max(usable)) if usable else (1.0, 10.0) if log else (0.0, 1.0)
    if log:
        factor = (high / low) ** padding if high > low else 2.0
        return Axis(low / factor, high * factor, start, stop, log=True)
    if high <= low:
        margin = abs(low) * 0.1 or 1.0
        return Axis(low - margin, high + margin, start, stop)
    margin = (high - low) * padding
    # Quantities that cannot be negative do not get a negative axis from their padding.
    return Axis(low - margin if low < 0 else max(low - margin, 0.0), high + margin, start, stop)


def linear_ticks(low: float, high: float, count: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten within [low, high], about `count` of them."""
    rough = (high - low) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * min((1, 2, 5, 10), key=lambda factor: abs(math.log(factor * power / rough)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def log_ticks(low: float, high: float, count: int) -> list[float]:
    """Powers of ten within [low, high], thinned to about `count`; with 2 and 5 times them where these are few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    powers = [10.0**exponent for exponent in range(first, last + 1)]
    inside = [power for power in powers if low <= power <= high]
    if len(inside) < 3:
        return [factor * power for power in powers for factor in (1, 2, 5) if low <= factor * power <= high]
    return inside[:: max(1, math.ceil(len(inside) / count))]


def label(value: float) -> str:
    """A number as it is written on an axis: 0.0003 -> "3e-4", 0.25 -> "0.25", 12000 -> "12K"."""
    if value == 0:
        return "0"
    size = abs(value)
    for scale, name in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")):
        if size >= scale * 0.999:
            return f"{value / scale:.4g}{name}"
    if size < 0.001:
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa.removesuffix('.0')}e{int(exponent)}"
    return f"{value:.4g}"
