"""What the user sees while danlu works: stage headlines, a progress line with rate and ETA, plain lines in a file.

On a terminal progress is a `rich` bar, and lines go above it; elsewhere a line every few seconds, or one a minute
while nothing moves. Everything goes to standard error, so that standard output stays clean for `--json`. Guarantee: no
text, whatever it holds, commands the terminal. Costs: rich is imported at the first progress, not at start-up.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

_LINE_SECONDS = 5.0
_STILL_SECONDS = 60.0
"""Between two lines that would say the same."""
_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Controls of the terminal, bidirectional overrides and isolates, lone surrogates, which cannot be printed at all."""

_bars: list[_Bar] = []
"""The bars on the terminal, the innermost last."""


def say(text: str = "") -> None:
    """One plain line for the user, or several; above the bar where there is one."""
    shown = visible(text, lines=True)
    if _bars:
        _bars[-1].print(shown)
    else:
        print(shown, file=sys.stderr, flush=True)


def visible(text: str, lines: bool = False) -> str:
    """A text that cannot command the terminal: what is no character for the eye is written as \\u001b is.

    With `lines`, line feeds and tabs stay as they are; without, the text is one line.
    """

    def escape(match: re.Match[str]) -> str:
        return match[0] if lines and match[0] in "\n\t" else f"\\u{ord(match[0]):04x}"

    return _INVISIBLE.sub(escape, text)


_SCALES = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"))
_BYTE_SCALES = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def human(number: float, unit: str = "") -> str:
    """1234567 -> "1.23M": three significant digits; from 10^15 on in powers of ten."""
    rounded = float(f"{number:.3g}")
    for scale, name in _SCALES:
        if scale <= abs(rounded) < 1e15:
            return f"{rounded / scale:.3g}{name}{unit}"
    return f"{rounded:.3g}{unit}"


def human_bytes(number: float) -> str:
    """1500000 -> "1.5 MB", decimal units."""
    rounded = float(f"{number:.3g}")
    for scale, name in _BYTE_SCALES:
        if abs(rounded) >= scale:
            return f"{rounded / scale:.3g} {name}"
    return f"{rounded:.0f} bytes"


def human_seconds(seconds: float) -> str:
    """75 -> "1 min 15 s"."""
    if round(seconds, 1) < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


class Progress:
    """A count that moves: `advance(n)`; `note(text)` shows beside it."""

    def __init__(self, title: str, total: float | None, unit: str, done: float = 0.0) -> None:
        self.title, self.total, self.unit = title, total, unit
        self.done, self.text = done, ""
        self._from, self._start = done, time.monotonic()
        self._printed = self._start
        self._shown = self.done, self.text

    def advance(self, amount: float = 1.0) -> None:
        """Counts `amount` more units as done."""
        self.done += amount
        self._show()

    def note(self, text: str) -> None:
        """Sets the text beside the count, e.g. the loss."""
        self.text = text

    @property
    def rate(self) -> float:
        """Units a second since the start."""
        return (self.done - self._from) / max(time.monotonic() - self._start, 1e-9)

    def line(self) -> str:
        """The state as one line: title, share, rate, time left, note."""
        amount = human_bytes if self.unit == "bytes" else human
        suffix = "" if self.unit == "bytes" else f" {self.unit}"
        parts = [f"{self.title}: {amount(self.done)}"]
        if self.total:
            parts[0] += f" of {amount(self.total)}{suffix} ({self.done / self.total:.0%})"
        else:
            parts[0] += suffix
        parts.append(f"{amount(self.rate)}{suffix}/s")
        if self.total and self.rate > 0:
            parts.append(f"{human_seconds(max(0.0, self.total - self.done) / self.rate)} left")
        return ", ".join([*parts, self.text] if self.text else parts)

    def _show(self) -> None:
        now, state = time.monotonic(), (self.done, self.text)
        if now - self._printed >= (_STILL_SECONDS if state == self._shown else _LINE_SECONDS):
            self._printed, self._shown = now, state
            say("  " + self.line())


class _Bar(Progress):
    """The same count as a bar on a terminal."""

    def __init__(self, title: str, total: float | None, unit: str, done: float = 0.0) -> None:
        super().__init__(title, total, unit, done)
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            BarColumn(24),
            TextColumn("{task.description}", markup=False),  # a file name may hold brackets
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task("", total=total)
        self._bar.update(self._task, completed=done)
        self._bar.start()

    def _show(self) -> None:
        now = time.monotonic()
        if now - self._printed >= 0.1:
            self._printed = now
            self._bar.update(self._task, completed=self.done, description=self.line())

    def print(self, text: str) -> None:
        """A line above the bar."""
        self._bar.console.print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)

    def close(self) -> None:
        self._bar.stop()


@contextmanager
def progress(title: str, total: float | None, unit: str, done: float = 0.0) -> Iterator[Progress]:
    """A progress display for the block: a bar on a terminal, lines elsewhere."""
    if not sys.stderr.isatty():
        yield Progress(title, total, unit, done)
        return
    bar = _Bar(title, total, unit, done)
    _bars.append(bar)
    try:
        yield bar
    finally:
        _bars.remove(bar)
        bar.close()
