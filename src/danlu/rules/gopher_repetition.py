"""Gopher's repetition rules (Rae et al. 2021, table A1): repeated lines and paragraphs, frequent and repeated n-grams.

Decides: as datatrove 0.10.1 does, the first broken rule is the reason; all shares are of the text's code points. The
top n-gram counts even where it occurs once, so that a text of two to four words always breaks its rule. A text
without a character is `empty`; one of white space alone has no words, and breaks the line rules only where line
feeds stand at both of its ends. Costs: about 5 ns a character and 60 ns a word beside splitting.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

from numba import njit

from danlu.rules.lines import LINE_FEED, Codes, strip_span
from danlu.rules.ngrams import DUPLICATE_SIZES, TOP_SIZES, repeated_ngrams, word_table
from danlu.rules.seen import Keys, clear, seen_before, slots_for
from danlu.rules.settings import GopherRepetition
from danlu.words.classes import table
from danlu.words.hashes import hash_span
from danlu.words.text import Measured, Text

SHARES = (
    *("dup_para_frac", "dup_para_char_frac", "dup_line_frac", "dup_line_char_frac"),
    *(f"top_{size}_gram_char_frac" for size in TOP_SIZES),
    *(f"dup_{size}_gram_char_frac" for size in DUPLICATE_SIZES),
)
"""In the order of the rules; a measure has the name of its threshold's key."""
MEASURES: tuple[str, ...] = ("characters", *SHARES)
REASONS = (
    *SHARES[:4],
    *(f"top_{size}_gram" for size in TOP_SIZES),
    *(f"duplicated_{size}_n_grams" for size in DUPLICATE_SIZES),
)


def measure(text: Text, settings: GopherRepetition) -> Measured:  # noqa: ARG001 (as of every step)
    """The measures of a text, which stays as it is: no setting changes them."""
    total = len(text.text)
    if not total:
        return Measured(text, (0.0, *(nan for _ in SHARES)))
    paragraphs, same_paragraphs, paragraph_characters = _repeated_paragraphs(text)
    lines, same_lines, line_characters = _repeated_lines(text)
    words = word_table(text)
    values = (
        float(total),
        same_paragraphs / paragraphs,
        paragraph_characters / total,
        same_lines / lines,
        line_characters / total,
        *(characters / total for characters in repeated_ngrams(words)),
    )
    return Measured(text, values)


def decide(values: Sequence[float], settings: GopherRepetition) -> str:
    """The first rule that the measures break, "" where they break none."""
    characters, *shares = values
    if characters == 0:
        return "empty"
    for share, key, reason in zip(shares, SHARES, REASONS, strict=True):
        if share > getattr(settings, key):
            return reason
    return ""


def _repeated_lines(text: Text) -> tuple[int, int, int]:
    """Pieces between runs of line feeds; how many occurred before; their characters."""
    most = text.text.count("\n") + 1
    return _count_repeated(text.codes, 0, len(text.codes), 1, slots_for(most), most)


def _repeated_paragraphs(text: Text) -> tuple[int, int, int]:
    """The same between runs of two or more line feeds, without white space at the text's ends."""
    most = text.text.count("\n\n") + 1
    if most == 1:
        return 1, 0, 0
    start, end = strip_span(text.codes, table(), 0, len(text.codes))
    return _count_repeated(text.codes, start, end, 2, slots_for(most), most)


@njit(cache=True, nogil=True)
def _count_repeated(
    codes: Codes, start: int, end: int, feeds: int, keys: Keys, most: int
) -> tuple[int, int, int]:
    """Pieces between runs of at least `feeds` line feeds, those that occurred before, their characters.

    `most`: no more pieces than that.
    """
    bits = clear(keys, most)
    pieces = 0
    repeated = 0
    characters = 0
    begin = start
    position = start
    while True:
        while position < end and codes[position] != LINE_FEED:
            position += 1
        stop = position
        while stop < end and codes[stop] == LINE_FEED:
            stop += 1
        if position == end or stop - position >= feeds:
            pieces += 1
            if seen_before(keys, bits, hash_span(codes, begin, position)):
                repeated += 1
                characters += position - begin
            begin = stop
        if position == end:
            return pieces, repeated, characters
        position = stop
