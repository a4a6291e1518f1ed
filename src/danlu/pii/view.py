"""A text as the finders see it: one alphabet, in small letters too, and where digits and long tokens stand.

Decides: full-width letters, digits and signs are read as ASCII, unusual spaces as spaces and short dashes as hyphens,
so that one pattern sees "１３８" and "138"; every code point stays in its place. A chain is a run of digit groups with
at most three of ` -./()+` between them. Guarantees: all work is linear in the text: finders look only around chains,
tokens and fixed strings, and so far as a constant. Costs: some 30 ms a megabyte.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from danlu.pii.settings import Kind
from danlu.words.classes import CODE_POINTS
from danlu.words.text import Text

LEAST_DIGITS = 6
"""A chain of fewer is nothing that is looked for."""
LEAST_TOKEN = 16
"""A run of fewer letters, digits, hyphens and underscores is no token by itself."""
CONTEXT = 40
"""So many code points before a number may say what it is."""
_MOST_GAP = 3
_BETWEEN = " -./()+"
_SPACES = (0x00A0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)
_HYPHENS = (0x2010, 0x2011, 0x2012, 0x2013, 0x2212, 0xFE63)

Codes = npt.NDArray[np.uint32]
Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]


class Item(NamedTuple):
    """An item: code points [start, end) of the text, and its kind."""

    start: int
    end: int
    kind: Kind


class Chain(NamedTuple):
    """Digit groups that stand close together: code points [start, end), and how many digits."""

    start: int
    end: int
    digits: int


@dataclass(frozen=True, slots=True)
class View:
    """What the finders read; all offsets are the text's own."""

    plain: str
    lower: str
    chains: list[Chain]
    """Those of `LEAST_DIGITS` or more."""
    tokens: list[tuple[int, int]]
    """[start, end) of the runs of `LEAST_TOKEN` or more ASCII letters, digits, `-` and `_`."""
    ibans: list[int]
    """Where two capitals stand before two digits."""

    def before(self, start: int, reach: int = CONTEXT) -> str:
        """The small letters before a place."""
        return self.lower[max(0, start - reach) : start]

    def mentions(self, words: Iterable[str]) -> bool:
        """Whether the small letters hold one of these."""
        return any(word in self.lower for word in words)

    def follows_capital(self, start: int) -> bool:
        """Whether a capital stands before a place, or before the space before it."""
        return _is_capital(self.plain[max(0, start - 2) : start].rstrip(" ")[-1:])

    def precedes_capital(self, end: int) -> bool:
        """Whether a capital stands at a place, or behind the space or hyphen there."""
        return _is_capital(self.plain[end : end + 2].lstrip(" -")[:1])


def _is_capital(character: str) -> bool:
    return "A" <= character <= "Z"


def look(text: Text) -> View:
    """The view of a text."""
    codes, plain = text.codes, text.text
    if not plain.isascii():
        codes = _folds()[text.codes]
        if not np.array_equal(codes, text.codes):
            plain = codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    # The one letter that is two when small would move all places behind it.
    lower = plain.replace("\u0130", "I").lower()
    ascii_codes = np.minimum(codes, 127)
    starts, ends = _runs(_class("0123456789")[ascii_codes])
    return View(
        plain, lower, _chains(codes, starts, ends), _tokens(ascii_codes), _ibans(ascii_codes, starts, ends)
    )


def search(
    pattern: re.Pattern[str], text: str, start: int, end: int, valid: Callable[[re.Match[str]], bool]
) -> Iterator[re.Match[str]]:
    """The valid matches in [start, end), apart; behind one that is not valid the search goes on one further."""
    while match := pattern.search(text, start, end):
        good = valid(match)
        start = match.end() if good else match.start() + 1
        if good:
            yield match


def digits_of(text: str) -> str:
    """Its ASCII digits."""
    return "".join(character for character in text if "0" <= character <= "9")


def _runs(inside: Bools) -> tuple[Places, Places]:
    """Starts and ends of the runs of True."""
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    if len(inside) and inside[0]:
        edges = np.concatenate((np.zeros(1, np.int64), edges))
    if len(inside) and inside[-1]:
        edges = np.concatenate((edges, np.full(1, len(inside), np.int64)))
    return edges[::2], edges[1::2]


def _chains(codes: Codes, starts: Places, ends: Places) -> list[Chain]:
    if not len(starts):
        return []
    gap, between = starts[1:] - ends[:-1], _class(_BETWEEN)
    joined = gap <= _MOST_GAP
    for place in range(_MOST_GAP):
        code = codes[np.minimum(ends[:-1] + place, len(codes) - 1)]
        joined &= (gap <= place) | between[np.minimum(code, 127)]
    first = np.concatenate((np.zeros(1, np.int64), np.flatnonzero(~joined) + 1))
    last = np.concatenate((first[1:] - 1, np.full(1, len(starts) - 1, np.int64)))
    digits = np.add.reduceat(ends - starts, first)
    kept = digits >= LEAST_DIGITS
    rows = zip(starts[first[kept]].tolist(), ends[last[kept]].tolist(), digits[kept].tolist(), strict=True)
    return [Chain(*row) for row in rows]


def _tokens(ascii_codes: Codes) -> list[tuple[int, int]]:
    starts, ends = _runs(_class("_-", letters=True)[ascii_codes])
    kept = ends - starts >= LEAST_TOKEN
    return list(zip(starts[kept].tolist(), ends[kept].tolist(), strict=True))


def _ibans(ascii_codes: Codes, starts: Places, ends: Places) -> list[int]:
    kept = starts[(ends - starts >= 2) & (starts >= 2)]
    capital = (ascii_codes[kept - 1] - np.uint32(65) < 26) & (ascii_codes[kept - 2] - np.uint32(65) < 26)
    found: list[int] = (kept[capital] - 2).tolist()
    return found


@cache
def _class(characters: str, letters: bool = False) -> Bools:
    """Which ASCII code points are among them; the last stands for all that are not ASCII."""
    inside = np.zeros(128, np.bool_)
    inside[[ord(character) for character in characters]] = True
    if letters:
        inside[[*range(48, 58), *range(65, 91), *range(97, 123)]] = True
    return inside


@cache
def _folds() -> Codes:
    """What each code point is read as."""
    folds = np.arange(CODE_POINTS, dtype=np.uint32)
    folds[0xFF01:0xFF5F] -= np.uint32(0xFEE0)
    folds[list(_SPACES)] = ord(" ")
    folds[list(_HYPHENS)] = ord("-")
    return folds
