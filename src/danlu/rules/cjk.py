"""Scripts without spaces: rules over characters, where those over words would say nothing.

Decides: the rules of ChineseWebText (Chen et al. 2023, section 3.2: length, mean line, share of the script, repeated
runs of 13 characters), for every script without spaces, and two of ours over punctuation. A text is judged where its
language is one of those, or more than `CHARACTERS_SHARE` of its letters are. Costs: 30 MB/s, most of it for sorting
the runs; nothing for other texts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from danlu.rules.settings import Cjk
from danlu.words.classes import ALPHA, DIGIT, SPACE, UNSPACED, table
from danlu.words.text import CHARACTERS_SHARE, UNSPACED_LANGUAGES, Measured, Text

MEASURES: tuple[str, ...] = (
    *("characters", "mean_line_length", "script_share", "repeated_share"),
    *("punctuation_share", "sentence_marks_share"),
)

RUN_CHARACTERS = 13
_MARKS = np.array([ord(mark) for mark in "。！？；，、：.!?;,:…།།۔။၊។៕"], np.uint32)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def measure(text: Text, settings: Cjk) -> Measured:  # noqa: ARG001 (as of every step)
    """The six measures; not a number where the text is of other scripts."""
    codes = text.codes
    flags = table()[codes]
    script = int(np.count_nonzero(flags & np.uint8(UNSPACED)))
    letters = int(np.count_nonzero(flags & np.uint8(ALPHA | UNSPACED)))
    if text.language not in UNSPACED_LANGUAGES and script <= CHARACTERS_SHARE * letters:
        return Measured(text, (math.nan,) * len(MEASURES))
    visible = codes[flags & np.uint8(SPACE) == 0]
    other = int(np.count_nonzero(flags & np.uint8(ALPHA | UNSPACED | DIGIT | SPACE) == 0))
    characters = max(codes.size, 1)
    values = (
        *(float(codes.size), codes.size / (1 + text.text.count("\n")), script / characters),
        repeated_share(visible),
        *(other / max(visible.size, 1), np.count_nonzero(np.isin(codes, _MARKS)) / characters),
    )
    return Measured(text, tuple(map(float, values)))


def decide(values: Sequence[float], settings: Cjk) -> str:
    """ "" keeps; else the first rule that is broken. What is not a number breaks none."""
    characters, line, script, repeated, punctuation, marks = values
    if characters < settings.min_characters:
        return "short"
    if line < settings.min_mean_line_length:
        return "short_lines"
    if script < settings.min_script_share:
        return "few_script"
    if repeated > settings.max_repeated_share:
        return "repeated"
    if punctuation > settings.max_punctuation_share:
        return "punctuation"
    return "no_sentences" if marks < settings.min_sentence_marks_share else ""


def repeated_share(codes: npt.NDArray[np.uint32]) -> float:
    """Share of the runs of 13 characters that occur more than once; 0 in a shorter text."""
    runs = codes.size - RUN_CHARACTERS + 1
    if runs < 2:
        return 0.0
    hashes = np.zeros(runs, np.uint64)
    for offset in range(RUN_CHARACTERS):
        hashes = hashes * _MULTIPLIER + codes[offset : offset + runs]
    hashes.sort()
    same = hashes[1:] == hashes[:-1]
    repeated = np.zeros(runs, np.bool_)
    repeated[1:] |= same
    repeated[:-1] |= same
    return int(np.count_nonzero(repeated)) / runs
