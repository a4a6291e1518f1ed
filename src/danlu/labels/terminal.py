"""A text on a plain terminal, page by page, and one key at a time; where keys cannot be had, a line at a time.

Decides: lines are wrapped by the columns that characters take (two for East Asian wide ones); nothing is drawn over, so
that the terminal's own scrolling works and any terminal will do. Guarantees: no text commands the terminal: what is no
character for the eye is shown as its escape; the terminal is as it was when the block ends, however it ends. Costs: of
a long text only the pages that are asked for are wrapped.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import termios
import tty
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol, TextIO

from danlu.errors import DanluError
from danlu.log import visible

END = ""
"""The key of a terminal that was closed, and of the end of piped lines."""
MORE = " "

_TAB = 4
_ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.|.)?", re.DOTALL)
"""What arrows and function keys send: no key that anything asks for."""


class Console(Protocol):
    """Where text is shown and keys come from."""

    columns: int
    rows: int

    def write(self, text: str) -> None:
        """Shows a text as it is; the caller has made it harmless."""

    def key(self) -> str:
        """The next key as one small letter or digit; MORE for space and return; END where none will come."""

    def forget_keys(self) -> None:
        """Throws away what a person has typed and nobody has asked for yet; piped answers all count."""


def wrap(text: str, columns: int) -> Iterator[str]:
    """The lines of a text, harmless and no wider than `columns`, broken at spaces where there are some."""
    for line in text.splitlines() or [""]:
        rest = visible(line.expandtabs(_TAB))
        while rest:
            cut = _fitting(rest, columns)
            if cut < len(rest):
                space = rest.rfind(" ", 1, cut + 1)
                cut = space if space > 0 else cut
            yield rest[:cut].rstrip()
            rest = rest[cut:].lstrip(" ") if cut < len(rest) else ""
        if not line:
            yield ""


def width(character: str) -> int:
    """The columns of a terminal that a character takes."""
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _fitting(line: str, columns: int) -> int:
    """How many characters of a line fit, at least one."""
    used = 0
    # A line without any width, of combining marks alone, is cut too.
    for place, character in enumerate(line[: 8 * columns]):
        used += width(character)
        if used > columns:
            return max(place, 1)
    return min(len(line), 8 * columns)


@contextmanager
def open_console(source: TextIO, sink: TextIO) -> Iterator[Console]:
    """Keys from a terminal, without return and without echo; else lines, of which the first letter counts."""
    size = shutil.get_terminal_size()
    if not source.isatty():
        yield _Lines(source, sink, size.columns, size.lines)
        return
    descriptor = source.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield _Keys(descriptor, sink, size.columns, size.lines)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


@contextmanager
def output_errors(sink: TextIO) -> Iterator[None]:
    """Flushes what was written; an output that takes no more, a full disk or a closed pipe, is one error."""
    try:
        yield
        sink.flush()
    except OSError as error:
        # What is left in the buffer would fail again, as a traceback, when the interpreter ends.
        with suppress(OSError), Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), sink.fileno())
        raise DanluError(
            f"cannot write the output: {os.strerror(error.errno or errno.EIO)}. Labels that were given are stored"
        ) from error


class _Sink:
    def __init__(self, sink: TextIO, columns: int, rows: int) -> None:
        self._sink = sink
        self.columns, self.rows = max(columns, 20), max(rows, 8)

    def write(self, text: str) -> None:
        encoding = self._sink.encoding or "utf-8"
        with output_errors(self._sink):
            self._sink.write(text.encode(encoding, "backslashreplace").decode(encoding))


class _Keys(_Sink):
    """A terminal in cbreak mode: Ctrl-C still interrupts."""

    def __init__(self, descriptor: int, sink: TextIO, columns: int, rows: int) -> None:
        super().__init__(sink, columns, rows)
        self._descriptor = descriptor
        self._waiting = ""

    def key(self) -> str:
        while not self._waiting:
            try:
                data = os.read(self._descriptor, 1024)
            except OSError:
                # Linux says EIO where the other side of the terminal is gone.
                return END
            if not data or data == b"\x04":
                return END
            self._waiting = _ESCAPE.sub("", data.decode("utf-8", "replace"))
        key, self._waiting = self._waiting[0], self._waiting[1:]
        return MORE if key in " \r\n" else key.lower()

    def forget_keys(self) -> None:
        self._waiting = ""
        # Where the terminal is gone the next key says so.
        with suppress(termios.error):
            termios.tcflush(self._descriptor, termios.TCIFLUSH)


class _Lines(_Sink):
    """Piped answers, one a line."""

    def __init__(self, source: TextIO, sink: TextIO, columns: int, rows: int) -> None:
        super().__init__(sink, columns, rows)
        self._source = source

    def key(self) -> str:
        line = self._source.readline()
        return line.strip().lower()[:1] or MORE if line else END

    def forget_keys(self) -> None:
        """Each line is an answer, whenever it was written."""
