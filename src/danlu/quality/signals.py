"""Quality signals of a text, as RedPajama-v2 publishes them (Weber et al. 2024), for expressions and for the ledger.

Decides: the published names without their prefix (`rps_doc_`, `rps_lines_`, `ccnet_`); a signal of lines is its mean,
share or sum over the lines. Raw words are those of the text's splitter; normalised words are those between white
space, in lower case, without ASCII punctuation, decomposed, and single characters where the splitter says so. Beside
the published definitions, letters of every script count, and the marks of Chinese are punctuation and end sentences.
What has no words or lines is 0; `stop_word_fraction` is not a number in a language without a list
(`stop_words.toml`). Left out: the signals of models, and of lists of bad words and sites. Costs: all of them 3 MB/s,
those without n-grams 10 MB/s; a signal that is not asked for costs nothing.
"""

from __future__ import annotations

import math
import re
import string
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from danlu.quality.settings import SIGNALS, Signals
from danlu.words.text import Measured, Text

MEASURES: tuple[str, ...] = SIGNALS

_ELLIPSES = ("...", "…")
_TERMINAL = (".", "!", "?", "”", "。", "！", "？")
_BULLETS = tuple("•‣▶◀◦■□▪▫–")
_SENTENCE = re.compile(r"\b[^.!?。！？]+[.!?。！？]*")
_LINE = re.compile(r"[^\n]*\n|[^\n]+$")
_CJK_PUNCTUATION = "，。！？；：、（）《》〈〉「」『』【】〔〕·～％"
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation + _CJK_PUNCTUATION)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def measure(text: Text, settings: Signals) -> Measured:  # noqa: ARG001 (as of every step)
    """Every signal; the text stays as it is."""
    return Measured(text, measure_signals(text, SIGNALS))


def decide(values: Sequence[float], settings: Signals) -> str:  # noqa: ARG001 (as of every step)
    """ "" always: signals are stored, and expressions decide."""
    return ""


def measure_signals(text: Text, names: Sequence[str]) -> tuple[float, ...]:
    """The signals of these names, in their order."""
    parts = Parts(text)
    return tuple(float(_SIGNAL[name](parts)) for name in names)


class Parts:
    """What signals share: lines and words of one text, each made when a signal first asks for it."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.raw = text.text

    @cached_property
    def lines(self) -> list[str]:
        """With their line feeds, as published."""
        return _LINE.findall(self.raw)

    @cached_property
    def normal(self) -> str:
        """The normalised text."""
        return normalize(self.raw)

    @cached_property
    def normal_lines(self) -> list[str]:
        """Each line normalised."""
        return list(map(normalize, self.lines))

    @cached_property
    def raw_words(self) -> list[str]:
        """As the splitter makes them."""
        starts, ends = self.text.words
        return [self.raw[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]

    @cached_property
    def words(self) -> list[str]:
        """Normalised."""
        return self.split(self.normal)

    def split(self, normal: str) -> list[str]:
        """The words of a normalised text."""
        if self.text.splitter != "characters":
            return normal.split()
        text = Text(normal, "zh")
        return [
            normal[start:end]
            for start, end in zip(*(offsets.tolist() for offsets in text.words), strict=True)
        ]

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each normalised word occurs, in the order of their first places."""
        return Counter(self.words)

    @cached_property
    def numbers(self) -> npt.NDArray[np.uint64]:
        """The normalised words, (W,), each as a number of its own."""
        number = {word: index for index, word in enumerate(self.counts, 1)}
        return np.fromiter(map(number.__getitem__, self.words), np.uint64, len(self.words))

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Characters of the normalised words, (W,)."""
        return np.fromiter(map(len, self.words), np.int64, len(self.words))

    def share_of_lines(self, test: Callable[[str], bool]) -> float:
        """Lines that pass the test, over all."""
        return sum(map(test, self.lines)) / max(len(self.lines), 1)

    def share_of_raw_words(self, test: Callable[[str], bool]) -> float:
        """Raw words that pass the test, over all."""
        return sum(map(test, self.raw_words)) / max(len(self.raw_words), 1)


def normalize(text: str) -> str:
    """Without punctuation of ASCII and of Chinese, in lower case, one space for white space, decomposed (NFD)."""
    return unicodedata.normalize("NFD", " ".join(text.translate(_NO_PUNCTUATION).lower().split()))


def top_ngram(parts: Parts, size: int) -> float:
    """Characters of the most frequent n-gram, the earliest among equals, over all; 0 where none occurs twice."""
    hashes = _ngrams(parts.numbers, size)
    if hashes.size < 2:
        return 0.0
    _, firsts, counts = np.unique(hashes, return_index=True, return_counts=True)
    most = counts.max()
    if most < 2:
        return 0.0
    first = int(firsts[counts == most].min())
    return float(parts.lengths[first : first + size].sum() * most / parts.lengths.sum())


def duplicate_ngrams(parts: Parts, size: int) -> float:
    """Characters of words in n-grams that occur at least twice, each word once, over all."""
    hashes = _ngrams(parts.numbers, size)
    if hashes.size < 2:
        return 0.0
    order = np.argsort(hashes, kind="stable")
    same = hashes[order[1:]] == hashes[order[:-1]]
    edges = np.zeros(parts.numbers.size + 1, np.int64)
    repeated = np.union1d(order[1:][same], order[:-1][same])
    edges[repeated] += 1
    edges[repeated + size] -= 1
    covered = np.cumsum(edges[:-1]) > 0
    return float(parts.lengths[covered].sum() / parts.lengths.sum())


def _ngrams(numbers: npt.NDArray[np.uint64], size: int) -> npt.NDArray[np.uint64]:
    """One hash for each run of `size` words, (W - size + 1,) or (0,)."""
    runs = max(numbers.size - size + 1, 0)
    hashes = np.zeros(runs, np.uint64)
    for offset in range(size):
        hashes = (hashes ^ (hashes >> np.uint64(29))) * _MULTIPLIER + numbers[offset : offset + runs]
    return hashes


def _entropy(parts: Parts) -> float:
    total = len(parts.words)
    return -sum(count / total * math.log(count / total) for count in parts.counts.values())


def _stop_words(parts: Parts) -> float:
    stop_words = stop_words_of(parts.text.language)
    if not stop_words:
        return math.nan
    return sum(word in stop_words for word in parts.words) / max(len(parts.words), 1)


@cache
def stop_words_of(language: str) -> frozenset[str]:
    """The list of a language as words are normalised; empty where there is none."""
    with Path(__file__).with_name("stop_words.toml").open("rb") as file:
        return frozenset(normalize(tomllib.load(file).get(language, "")).split())


def _symbols(parts: Parts) -> float:
    symbols = parts.raw.count("#") + sum(map(parts.raw.count, _ELLIPSES))
    return symbols / len(parts.raw_words) if parts.raw_words else 0.0


def _share(characters: int, text: str) -> float:
    return characters / max(len(text), 1)


def _lorem_ipsum(parts: Parts) -> float:
    return _share(parts.normal.count("lorem ipsum"), parts.normal)


def _mean(values: list[float]) -> float:
    return sum(values) / max(len(values), 1)


_SIGNAL: dict[str, Callable[[Parts], float]] = {
    "length": lambda parts: len(parts.raw),
    "nlines": lambda parts: len(parts.lines),
    "word_count": lambda parts: len(parts.words),
    "mean_word_length": lambda parts: sum(map(len, parts.words)) / max(len(parts.words), 1),
    "num_sentences": lambda parts: sum(1 for _ in _SENTENCE.finditer(parts.raw)),
    "symbol_to_word_ratio": _symbols,
    "frac_no_alph_words": lambda parts: (
        1.0 - parts.share_of_raw_words(lambda word: any(map(str.isalpha, word))) if parts.raw_words else 0.0
    ),
    "frac_all_caps_words": lambda parts: parts.share_of_raw_words(str.isupper),
    "frac_unique_words": lambda parts: len(parts.counts) / max(len(parts.words), 1),
    "unigram_entropy": _entropy,
    "stop_word_fraction": _stop_words,
    "curly_bracket": lambda parts: _share(parts.raw.count("{") + parts.raw.count("}"), parts.raw),
    "lorem_ipsum": _lorem_ipsum,
    "frac_lines_end_with_ellipsis": lambda parts: parts.share_of_lines(
        lambda line: line.rstrip().endswith(_ELLIPSES)
    ),
    "frac_lines_ending_with_terminal_punctuation": lambda parts: parts.share_of_lines(
        lambda line: line.rstrip().endswith(_TERMINAL)
    ),
    "frac_lines_start_with_bulletpoint": lambda parts: parts.share_of_lines(
        lambda line: line.lstrip().startswith(_BULLETS)
    ),
    "javascript_counts": lambda parts: sum(line.split().count("javascript") for line in parts.normal_lines),
    "mean_line_num_words": lambda parts: _mean([len(parts.split(line)) for line in parts.normal_lines]),
    "mean_line_uppercase_letter_fraction": lambda parts: _mean(
        [_share(sum(map(str.isupper, line)), line) for line in parts.lines]
    ),
    "mean_line_numerical_chars_fraction": lambda parts: _mean(
        [_share(sum(map(str.isnumeric, line)), line) for line in parts.normal_lines]
    ),
    "frac_chars_top_2gram": lambda parts: top_ngram(parts, 2),
    "frac_chars_top_3gram": lambda parts: top_ngram(parts, 3),
    "frac_chars_top_4gram": lambda parts: top_ngram(parts, 4),
    "frac_chars_dupe_5grams": lambda parts: duplicate_ngrams(parts, 5),
    "frac_chars_dupe_6grams": lambda parts: duplicate_ngrams(parts, 6),
    "frac_chars_dupe_7grams": lambda parts: duplicate_ngrams(parts, 7),
    "frac_chars_dupe_8grams": lambda parts: duplicate_ngrams(parts, 8),
    "frac_chars_dupe_9grams": lambda parts: duplicate_ngrams(parts, 9),
    "frac_chars_dupe_10grams": lambda parts: duplicate_ngrams(parts, 10),
}
