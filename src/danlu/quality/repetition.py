"""Text that repeats itself: the line rules of Gopher (Rae et al. 2021, table A1), and a page of one character.

Decides: duplicates are the second and later occurrences of a line; lines of white space alone are none, as they are in
the published rule set `gopher_repetition`; nothing is split into words, so that code and every script are measured
alike. Costs: about 100 MB/s: sets of lines and a histogram of characters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import filterfalse

import numpy as np

from danlu.quality.settings import Repetition
from danlu.words.text import Measured, Text

MEASURES = ("duplicate_line_share", "duplicate_character_share", "character_share")


def measure(text: Text, settings: Repetition) -> Measured:  # noqa: ARG001
    """Shares in [0, 1]: of duplicate lines over non-empty lines, of their characters over all, of one character."""
    return Measured(text, (*_duplicate_lines(text.text), character_share(text.text)))


def decide(values: Sequence[float], settings: Repetition) -> str:
    """Dropped by the first rule that is broken."""
    duplicate_lines, duplicate_characters, one_character = values
    if duplicate_lines > settings.max_duplicate_line_share:
        return "duplicate_lines"
    if duplicate_characters > settings.max_duplicate_character_share:
        return "duplicate_characters"
    return "one_character" if one_character > settings.max_character_share else ""


def _duplicate_lines(text: str) -> tuple[float, float]:
    lines = list(filterfalse(str.isspace, filter(None, text.split("\n"))))
    distinct = set(lines)
    repeated = sum(map(len, lines)) - sum(map(len, distinct))
    return (len(lines) - len(distinct)) / max(len(lines), 1), repeated / max(len(text), 1)


def character_share(text: str) -> float:
    """The share of the most frequent character among those that are not white space; 0 where there are none."""
    visible = "".join(text.split())
    if not visible:
        return 0.0
    if visible.isascii():
        return int(np.bincount(np.frombuffer(visible.encode(), np.uint8)).max()) / len(visible)
    codes = np.frombuffer(visible.encode("utf-16-le", "surrogatepass"), np.uint16)
    if len(codes) == len(visible):
        return int(np.bincount(codes).max()) / len(visible)
    # Characters beyond 16 bits are rare: only their texts are counted one by one.
    return Counter(visible).most_common(1)[0][1] / len(visible)
