"""Trains WordPiece by likelihood: of all pairs the one with the largest f(ab) / (f(a) f(b)) becomes a token.

Decides: scores are float64 quotients of whole counts; equal ones go to the more frequent pair, then to the smaller
pair of ids; pairs below `MIN_PAIR_COUNT` are left alone, since two symbols that occur once, and together, would score
highest of all. Guarantees: the same words give the same tokens. Costs: a scan of all pairs for each token, about 1 ms
at half a million pairs; only words that hold the pair are rewritten (Schuster & Nakajima 2012; score as described
for BERT).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numba as nb
import numpy as np
import numpy.typing as npt

from danlu.tokenizer.feed import Feed, Learned, require_room, room_for
from danlu.tokenizer.pretokens import make_word_splitter
from danlu.tokenizer.settings import TokenizerSettings
from danlu.tokenizer.subwords import CONTINUATION, MIN_PAIR_COUNT, make_wordpiece, word_symbols

Ints = npt.NDArray[np.int64]
Words = Sequence[tuple[str, int]]


def train_by_likelihood(settings: TokenizerSettings, feed: Feed) -> Learned:
    """A WordPiece tokenizer; a word with a character outside of the alphabet teaches nothing, as it stays unknown."""
    alphabet = feed.alphabet(settings.character_coverage)
    known = set(alphabet)
    words = []
    for word, count in feed.words(make_word_splitter()):
        if known.issuperset(word):
            words.append((word, count))
        else:
            feed.leave_out_word(word, count, "words with a character outside of the alphabet")
    symbols = word_symbols((word for word, _ in words), alphabet)
    require_room(settings, len(symbols))
    merged = most_likely_pieces(
        words, symbols, room_for(settings) - len(symbols), settings.longest_token(), MIN_PAIR_COUNT
    )
    return Learned(make_wordpiece(settings, [*symbols, *merged]))


def most_likely_pieces(
    words: Words, symbols: Sequence[str], most: int, longest: int, min_count: int
) -> list[str]:
    """Up to `most` tokens in the order in which they are made; fewer where no pair is left."""
    state = _Pairs(words, symbols, min_count)
    made = list[str]()
    while len(made) < most:
        place = state.best()
        if place < 0:
            break
        token = state.spell(place)
        if len(token.removeprefix(CONTINUATION)) > longest:
            state.forbid(place)
        else:
            # Another pair may have given the same token before.
            if state.merge(place, token):
                made.append(token)
    return made


class _Pairs:
    """The words as ids, and the counts of symbols and of neighbouring pairs that are kept in step with them."""

    def __init__(self, words: Words, symbols: Sequence[str], min_count: int) -> None:
        self._min_count = min_count
        self._names = list(symbols)
        self._ids = {name: number for number, name in enumerate(symbols)}
        self._counts = [count for _, count in words]
        self._words = [
            [self._ids[word[0]], *(self._ids[CONTINUATION + character] for character in word[1:])]
            for word, _ in words
        ]
        self._places = dict[tuple[int, int], int]()
        self._where: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
        self._symbols = np.zeros(max(2 * len(symbols), 1024), dtype=np.int64)
        self._table = np.zeros((1024, 3), dtype=np.int64)
        self._forbidden = set[tuple[int, int]]()
        for number in range(len(self._words)):
            self._count(number, 1)

    def best(self) -> int:
        """The row of the best pair, or -1."""
        return int(_best(self._table[: len(self._places)], self._symbols, self._min_count))

    def spell(self, place: int) -> str:
        """The token that a pair makes."""
        left, right, _ = map(int, self._table[place])
        return self._names[left] + self._names[right].removeprefix(CONTINUATION)

    def forbid(self, place: int) -> None:
        """Takes a pair out for good."""
        left, right, _ = map(int, self._table[place])
        self._forbidden.add((left, right))
        self._table[place, 2] = 0

    def merge(self, place: int, token: str) -> bool:
        """Joins a pair wherever it occurs, left to right; whether the token is new."""
        left, right, _ = map(int, self._table[place])
        is_new = token not in self._ids
        new = self._ids.setdefault(token, len(self._names))
        if is_new:
            self._names.append(token)
            if new >= len(self._symbols):
                self._symbols = np.concatenate([self._symbols, np.zeros_like(self._symbols)])
        for number in sorted(self._where.pop((left, right))):
            self._count(number, -1)
            self._words[number] = _joined(self._words[number], left, right, new)
            self._count(number, 1)
        return is_new

    def _count(self, number: int, sign: int) -> None:
        """Adds a word to the counts, or takes it out."""
        word, count = self._words[number], sign * self._counts[number]
        for symbol in word:
            self._symbols[symbol] += count
        for pair in pairwise(word):
            place = self._places.get(pair)
            if place is None:
                place = self._places[pair] = len(self._places)
                if place == len(self._table):
                    self._table = np.concatenate([self._table, np.zeros_like(self._table)])
                self._table[place, :2] = pair
            if pair not in self._forbidden:
                self._table[place, 2] += count
            if sign > 0:
                self._where[pair].add(number)


def _joined(word: Sequence[int], left: int, right: int, new: int) -> list[int]:
    joined, place = list[int](), 0
    while place < len(word):
        if place + 1 < len(word) and word[place] == left and word[place + 1] == right:
            joined.append(new)
            place += 2
        else:
            joined.append(word[place])
            place += 1
    return joined


@nb.njit(cache=True, nogil=True)
def _best(table: Ints, symbols: Ints, min_count: int) -> int:
    """The row of (n, 3) left, right, count with the largest score, -1 where no count reaches `min_count`."""
    best, best_score = -1, -1.0
    for place in range(len(table)):
        left, right, count = table[place, 0], table[place, 1], table[place, 2]
        if count < min_count:
            continue
        score = count / (np.float64(symbols[left]) * np.float64(symbols[right]))
        if best < 0 or score > best_score:
            best, best_score = place, score
        elif score == best_score:
            most = table[best, 2]
            pair_is_smaller = left < table[best, 0] or (left == table[best, 0] and right < table[best, 1])
            if count > most or (count == most and pair_is_smaller):
                best = place
    return best
