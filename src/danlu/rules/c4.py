"""C4's rules (Raffel et al. 2020, section 2.2): lines that are no sentences go, then pages with few sentences left.

Decides: as datatrove 0.10.1 does, per line without the white space around it, in this order: a long word; citations
cut out; no terminal mark; few words (counted with the citations); "lorem ipsum"; "javascript"; `{`; a policy. Case
is folded as `str.lower` does it. "lorem ipsum" and `{` drop the page, unless an earlier rule has cut their line, and
by what comes first. All is measured whatever is broken, so that `min_num_sentences` and the two rules of pages can
be tuned; a rule of lines changes the text, and with it the measures. A text without lines has no sentences:
`too_few_sentences`. Costs: 6 ns a character, and the sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.rules.lines import (
    LINE_FEED,
    Codes,
    Flags,
    Marks,
    copy_line,
    ends_in_dots,
    line_end,
    measure_words,
    next_line,
    other_digits,
    strip_span,
)
from danlu.rules.science import formula_spans
from danlu.rules.settings import C4
from danlu.words.classes import table
from danlu.words.sentences import count_span_sentences
from danlu.words.text import Measured, Text

MEASURES: tuple[str, ...] = (
    "sentences",
    "lines",
    "kept_lines",
    "long_word_lines",
    "no_terminal_punct_lines",
    "few_words_lines",
    "javascript_lines",
    "policy_lines",
    "lorem_ipsum_line",
    "curly_bracket_line",
)
REWRITES = True

LINES, KEPT, LONG_WORD, NO_TERMINAL_PUNCT, FEW_WORDS, IN_JAVASCRIPT, IN_POLICY, LOREM_LINE, CURLY_LINE = (
    range(9)
)
"""Places in the counts, which are the measures after the first."""

LOREM_IPSUM, JAVASCRIPT, POLICY = 1, 2, 4
PHRASES = (
    ("lorem ipsum", LOREM_IPSUM),
    ("javascript", JAVASCRIPT),
    ("terms of use", POLICY),
    ("privacy policy", POLICY),
    ("cookie policy", POLICY),
    ("uses cookies", POLICY),
    ("use of cookies", POLICY),
    ("use cookies", POLICY),
)
RARE_LETTERS = "jkvm"
"""Every phrase has one of them: phrases are looked for only around it."""

LETTERS = np.array([ord(letter) for phrase, _ in PHRASES for letter in phrase], np.uint32)
OFFSETS = np.cumsum([0, *(len(phrase) for phrase, _ in PHRASES)]).astype(np.int64)
ANCHORS = np.array(
    [next(phrase.index(letter) for letter in RARE_LETTERS if letter in phrase) for phrase, _ in PHRASES],
    np.int64,
)
MEANINGS = np.array([meaning for _, meaning in PHRASES], np.int64)
ANCHORED = np.zeros(128, np.bool_)
ANCHORED[[ord(letter) for letter in RARE_LETTERS + RARE_LETTERS.upper()]] = True
KELVIN = 0x212A
"""The one sign beside A to Z that becomes an ASCII letter in lower case: a k."""

ENDING = np.zeros(128, np.bool_)
ENDING[[ord(mark) for mark in ".?!\"'"]] = True
CAPITAL_A, CAPITAL_Z, SMALL_K, TO_SMALL = ord("A"), ord("Z"), ord("k"), ord("a") - ord("A")

NO_FORMULA = np.empty(0, np.bool_)

Offsets = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]


class _LineRules(NamedTuple):
    """The settings that a line is judged by."""

    max_word_length: int
    remove_citations: bool
    filter_no_terminal_punct: bool
    min_words: int
    filter_javascript: bool
    filter_policy: bool


class _Arrays:
    """The kept lines of the latest text, as code points and offsets; they only grow."""

    codes: Codes = np.empty(0, np.uint32)
    starts: Offsets = np.empty(0, np.int32)
    ends: Offsets = np.empty(0, np.int32)


def measure(text: Text, settings: C4) -> Measured:
    """The text with the lines that stay, joined by line feeds; counts of lines by what cut them; the number, from 1,
    of the first line with "lorem ipsum" and of the first with `{`, 0 where none has it."""
    room = len(text.codes) + 1
    if len(_Arrays.codes) < room:
        _Arrays.codes = np.empty(2 * room, np.uint32)
        _Arrays.starts, _Arrays.ends = np.empty((2, 2 * room), np.int32)
    kept, starts, ends = _Arrays.codes, _Arrays.starts, _Arrays.ends
    formula = _mark_formulae(text) if settings.formulae else NO_FORMULA
    counts = np.zeros(len(MEASURES) - 1, np.int64)
    spans, size = _keep_lines(
        text.codes, table(), other_digits(), formula, _line_rules(settings), kept, starts, ends, counts
    )
    joined = _decode(kept, size)
    # Sentences are counted before white space at the ends of the text goes, as the published filter counts them.
    whole = text if joined == text.text else text.with_text(joined)
    sentences = sum(count_span_sentences(whole, starts[:spans], ends[:spans]).tolist())
    stripped = joined.strip()
    rewritten = whole if stripped == joined else text.with_text(stripped)
    return Measured(rewritten, (float(sentences), *map(float, counts.tolist())))


def decide(values: Sequence[float], settings: C4) -> str:
    """What drops the page, "" where nothing does."""
    sentences, *_, lorem, curly = values
    has_lorem = settings.filter_lorem_ipsum and lorem > 0
    has_curly = settings.filter_curly_bracket and curly > 0
    if has_lorem and not (has_curly and curly < lorem):
        return "lorem_ipsum"
    if has_curly:
        return "curly_bracket"
    return "too_few_sentences" if sentences < settings.min_num_sentences else ""


def _line_rules(settings: C4) -> _LineRules:
    return _LineRules(
        settings.max_word_length,
        settings.remove_citations,
        settings.filter_no_terminal_punct,
        settings.min_words_per_line,
        settings.filter_javascript,
        settings.filter_policy,
    )


def _mark_formulae(text: Text) -> Marks:
    """Which code points are in formulae (N,); empty where none is."""
    spans = formula_spans(text.text)
    if not spans:
        return NO_FORMULA
    marks = np.zeros(len(text.text), np.bool_)
    for start, end in spans:
        marks[start:end] = True
    return marks


def _decode(codes: Codes, size: int) -> str:
    """The text of the first `size` code points; the array has room for one more."""
    # A last character that is no NUL, which numpy would cut off.
    codes[size] = ord(".")
    return str(codes[: size + 1].view(f"<U{size + 1}")[0][:-1])


@njit(cache=True, nogil=True)
def _keep_lines(
    codes: Codes,
    flags: Flags,
    digits: Codes,
    formula: Marks,
    rules: _LineRules,
    kept: Codes,
    starts: Offsets,
    ends: Offsets,
    counts: Counts,
) -> tuple[int, int]:
    """Writes the lines that stay to `kept`, and adds to `counts`; returns S and the code points written.

    S lines that are not within a formula have their offsets in `kept` in `starts` and `ends`.
    """
    spans = 0
    size = 0
    start = 0
    while start < codes.size:
        stop = line_end(codes, flags, start)
        first, last = strip_span(codes, flags, start, stop)
        start = next_line(codes, stop)
        counts[LINES] += 1
        begin = size + 1 if counts[KEPT] else size
        end, has_curly = copy_line(
            codes, flags, digits, formula, first, last, rules.remove_citations, kept, begin
        )
        in_formula = _lies_within(formula, first, last)
        fate = KEPT
        if not in_formula:
            words, longest = measure_words(codes, flags, first, last)
            fate = _judge_line(kept, begin, end, words, longest, has_curly, rules, counts)
        counts[fate] += 1
        if fate != KEPT:
            continue
        if begin > size:
            kept[size] = LINE_FEED
        size = end
        if not in_formula:
            starts[spans] = begin
            ends[spans] = end
            spans += 1
    return spans, size


@njit(cache=True, nogil=True)
def _lies_within(marks: Marks, start: int, end: int) -> bool:
    """Whether a span, which has a character, is marked from end to end."""
    if not marks.size or start == end:
        return False
    while start < end and marks[start]:
        start += 1
    return start == end


@njit(cache=True, nogil=True)
def _judge_line(
    kept: Codes,
    begin: int,
    end: int,
    words: int,
    longest: int,
    has_curly: bool,
    rules: _LineRules,
    counts: Counts,
) -> int:
    """What becomes of one line, which stands in `kept` without its citations."""
    if longest > rules.max_word_length:
        return LONG_WORD
    if rules.filter_no_terminal_punct and not _is_ended(kept, begin, end):
        return NO_TERMINAL_PUNCT
    if words < rules.min_words:
        return FEW_WORDS
    found = _find_phrases(kept, begin, end)
    if found & LOREM_IPSUM and not counts[LOREM_LINE]:
        counts[LOREM_LINE] = counts[LINES]
    if found & JAVASCRIPT and rules.filter_javascript:
        return IN_JAVASCRIPT
    if has_curly and not counts[CURLY_LINE]:
        counts[CURLY_LINE] = counts[LINES]
    if found & POLICY and rules.filter_policy:
        return IN_POLICY
    return KEPT


@njit(cache=True, nogil=True)
def _is_ended(kept: Codes, begin: int, end: int) -> bool:
    """Whether a line ends in a full stop, question mark, exclamation mark or straight quote, and in no `...`."""
    if begin == end:
        return False
    code = kept[end - 1]
    return code < ENDING.size and ENDING[code] and not ends_in_dots(kept, begin, end)


@njit(cache=True, nogil=True)
def _find_phrases(kept: Codes, begin: int, end: int) -> int:
    """The meanings of the phrases in a line, in any case, as bits."""
    found = 0
    for position in range(begin, end):
        code = kept[position]
        if not (code < ANCHORED.size and ANCHORED[code]) and code != KELVIN:
            continue
        for phrase in range(ANCHORS.size):
            letters = LETTERS[OFFSETS[phrase] : OFFSETS[phrase + 1]]
            start = position - ANCHORS[phrase]
            if start < begin or start + letters.size > end:
                continue
            same = 0
            while same < letters.size and _lower(kept[start + same]) == letters[same]:
                same += 1
            if same == letters.size:
                found |= MEANINGS[phrase]
    return found


@njit(cache=True, nogil=True)
def _lower(code: int) -> int:
    """An ASCII letter or the Kelvin sign in lower case; other code points as they are."""
    if code == KELVIN:
        return SMALL_K
    return code + TO_SMALL if CAPITAL_A <= code <= CAPITAL_Z else code
