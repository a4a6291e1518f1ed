"""Lines that were broken to fit a page, joined to paragraphs: which breaks to undo, and which hyphens.

Decides: a break was made for width where the next line's first word would not have fit; text most of whose lines are
shorter than that (verse, addresses, tables, code) keeps its lines. A hyphen at a line's end goes where the word is
written without it elsewhere in the same text, stays where it is written with it, and else goes between two small
letters. No space joins lines of Chinese and Japanese. Costs: 5-10 MB/s.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

SOFT_HYPHEN = "\u00ad"
_HYPHENS = ("-", "\u2010", SOFT_HYPHEN)
MOST_WORDS = 2_000_000
"""Distinct words that are remembered of one text, about 200 MB."""

_LONGEST_WORD = 100
_WRAPPED_SHARE = 0.8
_LEAST_WIDTH = 40
_COLUMNS = re.compile(r"\S(?: {3,}|\t)\S|^[|+]|[|+]$|[-=_]{10}")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST_PART = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)[-\u2010\u00ad]$")
_OPEN_ADDRESS = re.compile(r"://\S*[-/?&=_%#]$")
_FIRST_PART = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_UNSPACED = re.compile(
    r"[\u2e80-\u312f\u31a0-\uabff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)


class Words:
    """The words of a text, with the hyphens inside of lines: how it writes what a line's end divides.

    They are only looked for when the first divided word asks.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._words: set[str] = set()

    def __contains__(self, word: str) -> bool:
        """Whether a word in small letters stands somewhere within a line."""
        for line in self._lines:
            if len(self._words) < MOST_WORDS:
                # The last word may be divided; what stands before it is whole.
                self._words.update(_WORD.findall(line.rstrip().rpartition(" ")[0].lower()))
        self._lines = ()
        return word in self._words


def join_lines(lines: Iterable[str], words: Words) -> str:
    """One paragraph of lines that were all broken for width."""
    parts: list[str] = []
    tail = ""
    for line in lines:
        line = line.strip(" \t")
        if not line:
            continue
        if parts:
            loses_hyphen, between = _joint(tail, line, words)
            if loses_hyphen:
                parts[-1] = parts[-1][:-1]
            parts.append(between)
            tail += between
        parts.append(line)
        tail = (tail + line)[-_LONGEST_WORD:]
    return "".join(parts)


def _joint(before: str, after: str, words: Words) -> tuple[bool, str]:
    """Whether the text before loses the hyphen at its end, and what stands between it and the next line."""
    if after.startswith("//") or _OPEN_ADDRESS.search(before):
        return False, ""
    divided = before.endswith(_HYPHENS) and _LAST_PART.search(before)
    following = _FIRST_PART.match(after)
    if divided and following:
        return True, "-" if _keeps_hyphen(before[-1], divided[1], following[0], words) else ""
    is_joined = before.endswith(("--", "\u2014")) or (
        _UNSPACED.match(before[-1]) and _UNSPACED.match(after[0])
    )
    return False, "" if is_joined else " "


def _keeps_hyphen(mark: str, before: str, after: str, words: Words) -> bool:
    if mark == SOFT_HYPHEN:
        return False
    before, first = before.lower(), after[0]
    if f"{before}-{after.lower()}" in words:
        return True
    if before + after.lower() in words:
        return False
    # Anglo-Saxon, and words with a hyphen already (mother-in-law), are more often compounds.
    return not first.islower() or "-" in before or "-" in after


def is_unspaced(character: str) -> bool:
    """Whether a character is of Chinese or Japanese, whose lines break anywhere; Korean puts spaces."""
    return bool(_UNSPACED.match(character))


def text_width(blocks: Iterable[Sequence[str]]) -> int:
    """The width at which a text's lines were broken, in characters: what few of its longer blocks' lines exceed."""
    lengths = sorted(len(line.rstrip()) for block in blocks if len(block) >= 3 for line in block[:-1])
    return lengths[int(0.95 * (len(lengths) - 1))] if lengths else 0


def is_wrapped(block: Sequence[str], width: int) -> bool:
    """Whether a block's lines were broken at `width` characters, or a narrower one of its own."""
    if len(block) < 2:
        return False
    if sum(bool(_COLUMNS.search(line.strip())) for line in block) * 2 > len(block):
        return False
    own = max(len(line.rstrip()) for line in block)
    # A quotation is set narrower; three lines or fewer do not say so.
    width = own if len(block) > 3 and own >= _LEAST_WIDTH else max(own, width)
    if width < _LEAST_WIDTH:
        return False
    return _is_full(block, width) and _looks_like_prose(block)


def _is_full(block: Sequence[str], width: int) -> bool:
    broken = 0
    for line, following in pairwise(block):
        first = following.split(None, 1)[0] if following.strip() else ""
        # A few characters of tolerance: lines that an editor changed, quotation marks, the ends of sentences.
        broken += len(line.rstrip()) + 1 + len(first) > width - 4
    return broken >= _WRAPPED_SHARE * (len(block) - 1)


def _looks_like_prose(block: Sequence[str]) -> bool:
    """Verse of long lines begins each with a capital, prose seldom more than half of them."""
    rest = [line.strip() for line in block[1:]]
    capital = sum(line[:1].isupper() or line[:2].lstrip("\"'\u201c\u2018").istitle() for line in rest)
    return len(rest) < 3 or capital < 0.9 * len(rest)


def unwrap(block: Sequence[str], width: int, words: Words) -> str:
    """A block as one paragraph, or with its own lines where those mean something."""
    if is_wrapped(block, width):
        return join_lines(block, words)
    return "\n".join(line.rstrip() for line in block)
