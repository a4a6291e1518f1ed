"""FineWeb's own rules (Penedo et al. 2024, section 3.6): pages whose lines end nowhere, are short, repeat or list.

Decides: as datatrove 0.10.1 does, the first broken rule is the reason. Blank lines count in nothing but the line
breaks. A text of white space alone has no lines: `empty`, and its shares are NaN. Costs: 2 ns a character beside
splitting.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

from numba import njit

from danlu.rules.lines import LINE_FEED, Codes, Flags
from danlu.rules.seen import Keys, clear, seen_before, slots_for
from danlu.rules.settings import FineWeb
from danlu.words.classes import SPACE, TERMINAL, table
from danlu.words.hashes import hash_span
from danlu.words.text import Measured, Text

MEASURES: tuple[str, ...] = (
    "lines",
    "line_punct_ratio",
    "short_line_ratio",
    "char_duplicates_ratio",
    "new_line_ratio",
)


def measure(text: Text, settings: FineWeb) -> Measured:
    """The measures of a text, which stays as it is."""
    breaks = text.text.count("\n")
    lines, ended, short, repeated = _count_lines(
        text.codes, table(), settings.short_line_length, slots_for(breaks + 1), breaks + 1
    )
    if not lines:
        return Measured(text, (0.0, nan, nan, nan, nan))
    values = (
        float(lines),
        ended / lines,
        short / lines,
        repeated / (len(text.text) - breaks),
        breaks / len(text.words.starts),
    )
    return Measured(text, values)


def decide(values: Sequence[float], settings: FineWeb) -> str:
    """The first rule that the measures break, "" where they break none."""
    lines, ended, short, repeated, breaks = values
    if lines == 0:
        return "empty"
    if ended < settings.line_punct_thr and not (ended == 0 and settings.line_punct_exclude_zero):
        return "line_punct_ratio"
    if short > settings.short_line_thr:
        return "short_line_ratio"
    if repeated > settings.char_duplicates_ratio:
        return "char_dup_ratio"
    return "list_ratio" if breaks > settings.new_line_ratio else ""


@njit(cache=True, nogil=True)
def _count_lines(
    codes: Codes, flags: Flags, short_characters: int, keys: Keys, most: int
) -> tuple[int, int, int, int]:
    """Lines that are not blank; those that end in a terminal mark; the short ones; characters of repeated ones.

    `most`: no more lines than that, blank ones included.
    """
    bits = clear(keys, most)
    lines = 0
    ended = 0
    short = 0
    repeated_characters = 0
    begin = 0
    while begin < codes.size:
        end = begin
        every = SPACE
        while end < codes.size and codes[end] != LINE_FEED:
            every &= flags[codes[end]]
            end += 1
        if not every:
            lines += 1
            ended += (flags[codes[end - 1]] & TERMINAL) != 0
            short += end - begin <= short_characters
            if seen_before(keys, bits, hash_span(codes, begin, end)):
                repeated_characters += end - begin
        begin = end + 1
    return lines, ended, short, repeated_characters
