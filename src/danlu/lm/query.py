"""Probabilities of sentences under a back-off model: ARPA in hash tables of ours, binaries of KenLM through ufal-kenlm.

Decides: a word that the model does not know is `<unk>`, and where the model has no such word its log10 probability is
-100, as in KenLM; so are `<s>` and `</s>` written in a text. A word's probability is that of the longest n-gram known,
times the weights of the longer contexts (Katz 1987). Guarantees: equal to KenLM's on the same ARPA file to 1e-4, for
models without the lower n-grams of their n-grams too; n-grams of different words are taken for one with a chance of
2^-64 a pair. Costs: 24 to 48 bytes an n-gram in each process; 0.3 us a word; 0.5 s to load a million n-grams.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.errors import InputError, MissingError
from danlu.lm.arpa import Floats, Grams, read_arpa
from danlu.lm.count import SPECIAL, word_hash
from danlu.lm.tokens import Longs, Sentences
from danlu.words.hashes import join_hashes
from danlu.words.shingles import Hashes, hash_words

Doubles = npt.NDArray[np.float64]

BINARY_MAGIC = b"mmap lm http://kheafield.com/code"
"""What a binary file of KenLM begins with."""
MISSING_UNKNOWN = -100.0


class Table(NamedTuple):
    """A power of two of slots, at most two thirds of them taken; a key of 0 is an empty one."""

    keys: Hashes
    """(S,) n-grams, their words' hashes joined from the last to the first"""
    values: Floats
    """(S, 2) log10 probability, log10 weight of the lower order"""


@dataclass(frozen=True, slots=True)
class Model:
    """An ARPA model in memory."""

    order: int
    table: Table
    gaps: bool
    """Whether there are n-grams whose last words are no n-gram: then no length may be left untried."""

    def score(self, sentences: Sentences) -> Doubles:
        """(L,) log10 of the probability of each sentence, its end included."""
        hashes = hash_words(sentences.codes, sentences.starts, sentences.ends)
        return _score(hashes, sentences.lines, self.table, self.order, self.gaps, _marks())


@dataclass(frozen=True, slots=True)
class Binary:
    """A binary model of KenLM."""

    order: int
    model: Any

    def score(self, sentences: Sentences) -> Doubles:
        """(L,) log10 of the probability of each sentence, its end included."""
        text = sentences.codes.tobytes()
        spans = zip(sentences.starts.tolist(), sentences.ends.tolist(), strict=True)
        words = [text[4 * start : 4 * end].decode("utf-32-le") for start, end in spans]
        # As words of a text they would be a certain beginning or end.
        words = ["<unk>" if word in SPECIAL else word for word in words]
        bounds = pairwise([0, *sentences.lines.tolist()])
        lines = (" ".join(words[start:end]) for start, end in bounds)
        return np.array([self.model.score(line) for line in lines], np.float64)


def load_model(path: Path) -> Model | Binary:
    """A model from its file. Raises MissingError without the file or ufal-kenlm, InputError where it is no model."""
    if not path.is_file():
        raise MissingError(f"{path} does not exist; danlu corpus train-lm writes a model")
    with path.open("rb") as file:
        if file.read(len(BINARY_MAGIC)) == BINARY_MAGIC:
            return _load_binary(path)
    return _load_arpa(path)


def load_part(path: Path, texts: Sequence[Sentences]) -> Model:
    """As much of an ARPA model as it takes to score these texts exactly as all of it would.

    For models without n-grams of `<unk>`, as those trained here are. Memory: 96 bytes for each n-gram of the texts.
    """
    return _load_arpa(path, texts)


def perplexity(log10_probability: float, words: int, sentences: int) -> float:
    """10^(-sum of log10 p / (words + sentence ends)), as CCNet has it (Wenzek et al. 2020); NaN without words."""
    if not words:
        return float("nan")
    return float(10.0 ** min(-log10_probability / (words + sentences), 300.0))


def text_perplexity(model: Model | Binary, sentences: Sentences) -> float:
    """The perplexity of a text."""
    return perplexity(float(model.score(sentences).sum()), len(sentences.starts), len(sentences.lines))


def _load_binary(path: Path) -> Binary:
    try:
        import kenlm
    except ModuleNotFoundError:
        raise MissingError(
            f'{path} is a binary file of KenLM, which the package ufal-kenlm reads; pip install "danlu[corpus]"'
        ) from None
    try:
        model = kenlm.Model(str(path))
    except (OSError, RuntimeError) as error:
        raise InputError(f"{path} cannot be read by KenLM: {error}") from error
    return Binary(model.order, model)


def _load_arpa(path: Path, texts: Sequence[Sentences] | None = None) -> Model:
    counts, blocks = read_arpa(path)
    wanted = None if texts is None else _keys_of(texts, len(counts))
    size = sum(counts) if wanted is None else len(wanted)
    slots = 1 << max(int(1.5 * (size + 1)).bit_length(), 4)
    table = Table(np.zeros(slots, np.uint64), np.zeros((slots, 2), np.float32))
    gaps, read = False, 0
    for block in blocks:
        grams = block if wanted is None else _among(block, wanted)
        double, lacking = _insert(table, grams.keys, grams.suffixes, grams.values, grams.order > 1)
        if double >= 0:
            raise InputError(f"{path}: n-gram {read + double + 1} of the file is there twice")
        gaps |= lacking
        read += len(block.keys)
    unknown, begin, _ = _marks()
    if _find(table, begin) < 0:
        raise InputError(f"{path} has no word <s>, so that no sentence has a beginning")
    if _find(table, unknown) < 0:
        value = np.array([[MISSING_UNKNOWN, 0.0]], np.float32)
        _insert(table, np.array([unknown]), np.zeros(1, np.uint64), value, False)
    return Model(len(counts), table, gaps)


def _marks() -> Hashes:
    """(3,) what `<unk>`, `<s>` and `</s>` are looked up by."""
    return np.array([word_hash(word) for word in SPECIAL], np.uint64)


def _keys_of(texts: Sequence[Sentences], order: int) -> Hashes:
    """The keys of all n-grams of the texts, sorted, each once, those of the marks among them."""
    found = [_marks()]
    for text in texts:
        hashes = hash_words(text.codes, text.starts, text.ends)
        found.append(np.unique(_ngram_keys(hashes, text.lines, order, _marks())))
    return np.unique(np.concatenate(found))


def _among(grams: Grams, wanted: Hashes) -> Grams:
    """The n-grams whose keys are wanted."""
    places = np.minimum(np.searchsorted(wanted, grams.keys), len(wanted) - 1)
    kept = wanted[places] == grams.keys
    return Grams(grams.order, grams.keys[kept], grams.suffixes[kept], grams.values[kept])


@njit(cache=True, nogil=True)
def _ngram_keys(hashes: Hashes, lines: Longs, order: int, marks: Hashes) -> Hashes:
    """The keys of all n-grams of up to `order` words of each sentence, its marks included."""
    keys = np.empty((hashes.size + 2 * lines.size) * order, np.uint64)
    count, first = 0, 0
    for line in range(lines.size):
        length = lines[line] - first
        for place in range(length + 2):
            key = np.uint64(0)
            for back in range(min(order, place + 1)):
                word = place - back
                one = marks[1] if word == 0 else marks[2] if word > length else hashes[first + word - 1]
                key = join_hashes(key, one) if back else one
                keys[count] = key
                count += 1
        first = lines[line]
    return keys[:count].copy()


@njit(cache=True, nogil=True)
def _find(table: Table, key: np.uint64) -> np.int64:
    """The slot of a key, or ~slot of the empty one where it would be."""
    mask = np.int64(table.keys.size - 1)
    slot = np.int64(key & np.uint64(mask))
    while table.keys[slot] != key:
        if table.keys[slot] == 0:
            return ~slot
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)
def _insert(
    table: Table, keys: Hashes, suffixes: Hashes, values: Floats, has_suffix: bool
) -> tuple[int, bool]:
    """Adds n-grams; the number of one that is there already, else -1, and whether any lacks its suffix."""
    lacking = False
    for number in range(keys.size):
        slot = _find(table, keys[number])
        if slot >= 0:
            return number, lacking
        table.keys[~slot] = keys[number]
        # Not as a row: compiling its check of shapes takes seconds.
        table.values[~slot, 0] = values[number, 0]
        table.values[~slot, 1] = values[number, 1]
        lacking = lacking or (has_suffix and bool(_find(table, suffixes[number]) < 0))
    return -1, lacking


@njit(cache=True, nogil=True)
def _score(hashes: Hashes, lines: Longs, table: Table, order: int, gaps: bool, marks: Hashes) -> Doubles:
    """(L,) `marks`: the hashes of SPECIAL."""
    unknown, begin, end = marks[0], marks[1], marks[2]
    scores = np.zeros(lines.size, np.float64)
    # Backoffs by length of the n-grams that end at the word before, and those that end at this word.
    before = np.zeros(order + 1, np.float64)
    after = np.zeros(order + 1, np.float64)
    first = 0
    for line in range(lines.size):
        sentence = np.empty(lines[line] - first + 2, np.uint64)
        sentence[0], sentence[-1] = begin, end
        for place in range(1, sentence.size - 1):
            word = hashes[first + place - 1]
            sentence[place] = unknown if word in (begin, end) else word
        first = lines[line]
        before[:] = 0.0
        before[1] = table.values[_find(table, begin), 1]
        for place in range(1, sentence.size):
            scores[line] += _score_word(sentence, place, table, order, gaps, unknown, before, after)
            before, after = after, before
    return scores


@njit(cache=True, nogil=True)
def _score_word(
    sentence: Hashes,
    place: int,
    table: Table,
    order: int,
    gaps: bool,
    unknown: np.uint64,
    before: Doubles,
    after: Doubles,
) -> float:
    """log10 of a word's probability after those before it; fills `after`. A word not known becomes `unknown`."""
    key = sentence[place]
    slot = _find(table, key)
    if slot < 0:
        key = sentence[place] = unknown
        slot = _find(table, key)
    longest = 1
    score = np.float64(table.values[slot, 0])
    after[:] = 0.0
    after[1] = table.values[slot, 1]
    longest_context = min(order - 1, place)
    for length in range(2, longest_context + 2):
        key = join_hashes(key, sentence[place - length + 1])
        slot = _find(table, key)
        if slot >= 0:
            longest = length
            score = np.float64(table.values[slot, 0])
            after[length] = table.values[slot, 1]
        elif not gaps:
            break
    for length in range(longest, longest_context + 1):
        score += before[length]
    return score
