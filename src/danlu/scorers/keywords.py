"""How many words and phrases of the user's lists a text has, and how much of it they are: a step on one document.

Decides: case does not count; a phrase is a run of whole tokens, whatever white space is between them: letters, digits
and signs are a word, each mark stands alone, and so does each character of a script without spaces, in which a phrase
is therefore found anywhere. Matches do not overlap: of those that begin at a token the longest counts, and the next is
looked for behind it. A list is used where its language is the text's, "*" always. Guarantees: work linear in the text;
a false match needs equal 64-bit hashes. Costs: about 40 MB/s; some 30 bytes a word of the lists.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.errors import InputError, MissingError
from danlu.extract.lines import read_lines
from danlu.scorers.features import split_tokens
from danlu.scorers.settings import Keywords
from danlu.words.classes import table
from danlu.words.hashes import Codes, hash_span, join_hashes
from danlu.words.text import Measured, Text, encode

MEASURES: tuple[str, ...] = ("matches", "share")
MOST_TOKENS = 64
"""Of a phrase: a text is looked through at most so many times."""
EVERY = "*"
_PREFIX, _WHOLE = 1, 2
_LOADED = 64
_FEWEST_BITS = 4

Offsets = npt.NDArray[np.int32]


class Phrases(NamedTuple):
    """The beginnings of all phrases, a table of open slots: (2^bits,) hashes and what each is (0: a free slot)."""

    keys: npt.NDArray[np.uint64]
    kinds: npt.NDArray[np.uint8]


def measure(text: Text, settings: Keywords) -> Measured:
    """MEASURES; not numbers where there is no list for the text's language. Raises MissingError and InputError."""
    files = [settings.lists[code] for code in dict.fromkeys((text.language, EVERY)) if code in settings.lists]
    if not files:
        return Measured(text, (math.nan, math.nan))
    codes = encode(text.text.casefold())
    matches, matched, all_codes = find_phrases(codes, *split_tokens(codes, table()), load_phrases(files))
    return Measured(text, (float(matches), matched / max(all_codes, 1)))


def decide(values: Sequence[float], settings: Keywords) -> str:
    """ "" keeps; else "too_many_matches" or "too_large_share"."""
    matches, share = values
    if settings.max_matches is not None and matches > settings.max_matches:
        return "too_many_matches"
    return "too_large_share" if settings.max_share is not None and share > settings.max_share else ""


def load_phrases(files: Sequence[str]) -> Phrases:
    """The phrases of several files, loaded once until one changes.

    Raises MissingError where a file does not exist, InputError where it has no phrase or one of too many tokens.
    """
    missing = [name for name in files if not Path(name).is_file()]
    if missing:
        raise MissingError(f"keywords.lists: {missing[0]} does not exist; correct its path")
    return _load(tuple((name, Path(name).stat().st_mtime_ns) for name in files))


def forget_files() -> None:
    """Lists are read anew by the next text: for a process that builds a second time."""
    _load.cache_clear()


@lru_cache(_LOADED)
def _load(files: tuple[tuple[str, int], ...]) -> Phrases:
    known: dict[int, int] = {}
    for name, _ in files:
        found = 0
        for number, line in enumerate(read_lines(Path(name)), 1):
            codes = encode(line.casefold())
            states = prefix_hashes(codes, *split_tokens(codes, table()))
            if len(states) > MOST_TOKENS:
                raise InputError(
                    f"{name}, line {number}: {len(states)} words and marks; a phrase has at most {MOST_TOKENS}"
                )
            found += len(states)
            for place, state in enumerate(states.tolist(), 1):
                known[state] = known.get(state, 0) | (_WHOLE if place == len(states) else _PREFIX)
        if not found:
            raise InputError(f"keywords.lists: {name} has no word; write one word or phrase a line")
    return _fill(known)


def _fill(known: dict[int, int]) -> Phrases:
    bits = max((2 * len(known)).bit_length(), _FEWEST_BITS)
    keys, kinds = np.zeros(1 << bits, np.uint64), np.zeros(1 << bits, np.uint8)
    for state, kind in known.items():
        slot = state & ((1 << bits) - 1)
        while kinds[slot]:
            slot = (slot + 1) & ((1 << bits) - 1)
        keys[slot], kinds[slot] = state, kind
    return Phrases(keys, kinds)


@njit(cache=True, nogil=True)
def prefix_hashes(codes: Codes, starts: Offsets, ends: Offsets) -> npt.NDArray[np.uint64]:
    """(W,) the hash of the first 1, 2, ... W tokens."""
    states = np.empty(starts.size, np.uint64)
    state = np.uint64(0)
    for token in range(starts.size):
        state = join_hashes(state, hash_span(codes, starts[token], ends[token]))
        states[token] = state
    return states


@njit(cache=True, nogil=True)
def find_phrases(codes: Codes, starts: Offsets, ends: Offsets, phrases: Phrases) -> tuple[int, int, int]:
    """How many phrases there are, the code points of their tokens, and those of all tokens."""
    keys, kinds = phrases
    mask = np.uint64(keys.size - 1)
    hashes = np.empty(starts.size, np.uint64)
    sizes = 0
    for token in range(starts.size):
        hashes[token] = hash_span(codes, starts[token], ends[token])
        sizes += ends[token] - starts[token]
    matches = 0
    matched = 0
    token = 0
    while token < starts.size:
        state = np.uint64(0)
        longest = 0
        for place in range(token, starts.size):
            state = join_hashes(state, hashes[place])
            slot = state & mask
            while kinds[slot] and keys[slot] != state:
                slot = (slot + np.uint64(1)) & mask
            kind = kinds[slot]
            if kind & _WHOLE:
                longest = place - token + 1
            if not kind & _PREFIX:
                break
        matches += longest > 0
        for place in range(token, token + longest):
            matched += ends[place] - starts[place]
        token += max(longest, 1)
    return matches, matched, sizes
