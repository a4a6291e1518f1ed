"""Text that repeats itself: the line rules of Gopher (Rae et al. 2021, table A1), and a page of one character.

Decides: duplicates are the second and later occurrences of a line; lines of white space alone are none. Measuring
is apart from deciding, so that thresholds can be tuned. Costs: about 100 MB/s: sets of lines and a histogram of
bytes, which bounds the exact count of characters and nearly always settles it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import filterfalse

import numpy as np

from danlu.quality.settings import Repetition
from danlu.quality.verdict import Dropped, Kept, Verdict


@dataclass(frozen=True, slots=True)
class LineRepetition:
    """Shares in [0, 1]: of duplicate lines over non-empty lines, of their characters over all characters."""

    duplicate_lines: float
    duplicate_characters: float


def measure_lines(text: str) -> LineRepetition:
    """How much of a text is lines that it had before. An empty text has none."""
    lines = list(filterfalse(str.isspace, filter(None, text.split("\n"))))
    distinct = set(lines)
    repeated = sum(map(len, lines)) - sum(map(len, distinct))
    duplicate_lines = (len(lines) - len(distinct)) / max(len(lines), 1)
    return LineRepetition(duplicate_lines, repeated / max(len(text), 1))


def exceeds_character_share(text: str, max_share: float) -> bool:
    """Whether one character fills more than `max_share` of what is not white space."""
    visible = "".join(text.split())
    if not visible:
        return False
    data = visible.encode("utf-8", "replace")
    # No character is more frequent than the most frequent byte of its encoding.
    bound = int(np.bincount(np.frombuffer(data, np.uint8)).max())
    if bound <= max_share * len(visible):
        return False
    return Counter(visible).most_common(1)[0][1] > max_share * len(visible)


def check_repetition(text: str, settings: Repetition) -> Verdict:
    """Dropped by the first rule that is broken."""
    lines = measure_lines(text)
    if lines.duplicate_lines > settings.max_duplicate_line_share:
        return Dropped("repetition.duplicate_lines")
    if lines.duplicate_characters > settings.max_duplicate_character_share:
        return Dropped("repetition.duplicate_characters")
    if exceeds_character_share(text, settings.max_character_share):
        return Dropped("repetition.one_character")
    return Kept(text)
