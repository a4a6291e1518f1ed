"""Trains Unigram by expectation-maximisation over counted pre-tokens (Kudo 2018; steps as SentencePiece takes them).

Decides: seeds are the substrings with the largest count times length; each round re-estimates twice, leaves out what is
expected less than half a time, and prunes to three quarters by what a piece's loss would cost, until the vocabulary is
reached; single characters always stay. Guarantees: the same texts in any order give the same pieces, bit by bit, which
`tokenizers`' own trainer does not. Costs: 0.6 MB a second; 2 GB at most.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer, decoders, models

from danlu.tokenizer.feed import (
    NAMES,
    Feed,
    Learned,
    make_vocabulary,
    require_room,
    room_for,
    unreachable_score,
)
from danlu.tokenizer.lattice import HASH_MULTIPLIER, Trie, expectation, insert_all, losses, viterbi_counts
from danlu.tokenizer.pretokens import make_pretokenizer
from danlu.tokenizer.settings import TokenizerSettings
from danlu.tokenizer.subwords import mark_special

_MOST_SEEDS, _LEAST_SEEDS, _SEEDS_PER_TOKEN = 1_000_000, 100_000, 20
_LEAST_SEED_COUNT = 2
_SUB_ITERATIONS = 2
_SHRINKING = 0.75
_MARGIN = 1.1
_LEAST_EXPECTED = 0.5

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Segments:
    """Distinct strings as code points, one after the other; where each starts, and how often it occurs."""

    codes: Codes
    starts: Ints
    """(n + 1,): string i is codes[starts[i] : starts[i + 1]]."""
    counts: Floats


def train_unigram(settings: TokenizerSettings, feed: Feed) -> Learned:
    """A Unigram tokenizer over the pre-tokens of the recipe's pattern."""
    reserved = make_vocabulary(settings, ()).keys()
    # Where a special token's name can be spelt out, its own piece is never the better reading.
    spelt = set("".join(reserved))
    alphabet = sorted({*feed.alphabet(settings.character_coverage, always=spelt), *spelt})
    require_room(settings, len(alphabet))
    splitter = make_pretokenizer(settings.pretokenizer, byte_level=False)
    words = feed.words(splitter)
    pieces = learn_pieces(words, alphabet, room_for(settings), settings.longest_token(), reserved)
    return Learned(_tokenizer(settings, pieces))


def learn_pieces(
    words: Sequence[tuple[str, int]],
    alphabet: Sequence[str],
    size: int,
    longest: int,
    reserved: Collection[str] = (),
) -> dict[str, float]:
    """Log probabilities of at most `size` pieces, the most probable first; all characters are among them."""
    segments = segments_of(words, alphabet)
    most = min(max(_SEEDS_PER_TOKEN * size, _LEAST_SEEDS), _MOST_SEEDS)
    pieces = _seeds(segments, alphabet, longest, most)
    for name in reserved:
        pieces.pop(name, None)
    while True:
        for _ in range(_SUB_ITERATIONS):
            expected, _ = expect(segments, pieces)
            pieces = estimate(expected, alphabet)
        if len(pieces) <= max(int(_MARGIN * size), len(alphabet)):
            break
        smaller = _pruned(segments, pieces, max(int(_MARGIN * size), int(_SHRINKING * len(pieces))))
        if len(smaller) == len(pieces):
            break
        pieces = smaller
    return _best(pieces, alphabet, size)


def expect(segments: Segments, pieces: Mapping[str, float]) -> tuple[dict[str, float], float]:
    """Expected count of every piece over all segmentations, and the log likelihood (the E step)."""
    counts, likelihood = expectation(segments.codes, segments.starts, segments.counts, *make_trie(pieces))
    return dict(zip(pieces, counts.tolist(), strict=True)), float(likelihood)


def estimate(expected: Mapping[str, float], kept: Sequence[str]) -> dict[str, float]:
    """Log probabilities by digamma of the expected counts, which favours few pieces (the M step, Bayesian)."""
    always = set(kept)
    counts = {
        piece: max(count, _LEAST_EXPECTED if piece in always else 0.0)
        for piece, count in expected.items()
        if count >= _LEAST_EXPECTED or piece in always
    }
    values = digamma(np.fromiter(counts.values(), np.float64)) - digamma(np.array([sum(counts.values())]))[0]
    return dict(zip(counts, values.tolist(), strict=True))


def digamma(values: Floats) -> Floats:
    """The logarithmic derivative of the gamma function, for positive values, to 1e-12 (asymptotic series)."""
    x, shift = values.astype(np.float64), np.zeros(values.shape)
    for _ in range(8):
        small = x < 8
        shift -= np.where(small, 1 / x, 0.0)
        x = np.where(small, x + 1, x)
    y = 1 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * 691 / 32760)))))
    result: Floats = shift + np.log(x) - 0.5 / x - series
    return result


def make_trie(pieces: Mapping[str, float]) -> Trie:
    """The pieces as a trie; its piece numbers are their order in the mapping."""
    codes, starts = _flat(list(pieces))
    size = 1 << max(6, (4 * len(pieces)).bit_length())
    while True:
        keys, values, nodes = insert_all(codes, starts, size)
        if nodes >= 0:
            return keys, values, np.fromiter(pieces.values(), np.float64, len(pieces))
        size *= 2


def _flat(strings: Sequence[str]) -> tuple[Codes, Ints]:
    codes = np.frombuffer("".join(strings).encode("utf-32-le"), dtype=np.int32)
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    return codes, np.concatenate([[0], np.cumsum(lengths)])


def segments_of(words: Sequence[tuple[str, int]], alphabet: Sequence[str]) -> Segments:
    """Words without characters outside of the alphabet: what stands between these."""
    counts: Counter[str] = Counter()
    outside = re.compile(f"[^{re.escape(''.join(alphabet))}]+")
    for word, count in words:
        for part in outside.split(word):
            if part:
                counts[part] += count
    codes, starts = _flat(list(counts))
    return Segments(codes, starts, np.fromiter(counts.values(), np.float64, len(counts)))


def _seeds(segments: Segments, alphabet: Sequence[str], longest: int, most: int) -> dict[str, float]:
    """Single characters, and the substrings that occur twice with the largest count times length."""
    singles, found = _count_singles(segments, alphabet), list[tuple[float, str]]()
    lengths = np.diff(segments.starts)
    room = np.repeat(segments.starts[1:], lengths) - np.arange(len(segments.codes))
    weights = np.repeat(segments.counts, lengths)
    hashes = segments.codes.astype(np.uint64)
    for length in range(2, longest + 1):
        fits = np.flatnonzero(room >= length)
        if not len(fits):
            break
        hashes[fits] = hashes[fits] * HASH_MULTIPLIER + segments.codes[fits + length - 1].astype(np.uint64)
        _, first, inverse = np.unique(hashes[fits], return_index=True, return_inverse=True)
        counts = np.bincount(inverse, weights[fits])
        often = np.flatnonzero(counts >= _LEAST_SEED_COUNT)
        best = often[np.argsort(-counts[often], kind="stable")[:most]]
        found += [
            (float(counts[i]) * length, _spell(segments.codes[place : place + length]))
            for i, place in zip(best.tolist(), fits[first[best]].tolist(), strict=True)
        ]
        found = sorted(found, key=lambda seed: (-seed[0], seed[1]))[:most]
    scores = {**singles, **{piece: score for score, piece in found}}
    total = math.log(sum(scores.values()))
    return {piece: math.log(score) - total for piece, score in scores.items()}


def _count_singles(segments: Segments, alphabet: Sequence[str]) -> dict[str, float]:
    weights = np.repeat(segments.counts, np.diff(segments.starts))
    codes, inverse = np.unique(segments.codes, return_inverse=True)
    counted = dict(zip(map(chr, codes.tolist()), np.bincount(inverse, weights).tolist(), strict=True))
    # A character that only special names have is rarer than any other.
    return {character: counted.get(character, _LEAST_EXPECTED) for character in alphabet}


def _spell(codes: Codes) -> str:
    return codes.tobytes().decode("utf-32-le")


def _pruned(segments: Segments, pieces: Mapping[str, float], size: int) -> dict[str, float]:
    """The single characters and those pieces whose replacement by their best parts would cost most likelihood."""
    keys, values, scores = make_trie(pieces)
    counts = viterbi_counts(segments.codes, segments.starts, segments.counts, keys, values, scores)
    names = list(pieces)
    codes, starts = _flat(names)
    loss = losses(codes, starts, keys, values, scores, counts)
    single = np.diff(starts) == 1
    loss[single] = np.inf
    order = np.lexsort((np.arange(len(names)), -loss))[: max(size, int(single.sum()))]
    kept = np.sort(order[loss[order] > -np.inf])
    return {names[i]: pieces[names[i]] for i in kept.tolist()}


def _best(pieces: Mapping[str, float], alphabet: Sequence[str], size: int) -> dict[str, float]:
    """The characters and the most probable other pieces, the most probable first."""
    always = set(alphabet)
    others = sorted(
        ((score, piece) for piece, score in pieces.items() if piece not in always),
        key=lambda item: (-item[0], item[1]),
    )
    chosen = {piece: pieces[piece] for piece in alphabet}
    chosen.update({piece: score for score, piece in others[: size - len(alphabet)]})
    return dict(sorted(chosen.items(), key=lambda item: (-item[1], item[0])))


def _tokenizer(settings: TokenizerSettings, pieces: Mapping[str, float]) -> Tokenizer:
    vocab = make_vocabulary(settings, pieces)
    low = unreachable_score(pieces.values(), vocab)
    scored = [(piece, pieces.get(piece, low)) for piece in vocab]
    model = models.Unigram(scored, vocab[NAMES["unk"]], byte_fallback=settings.byte_tokens())
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = make_pretokenizer(settings.pretokenizer, byte_level=False)
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    return mark_special(tokenizer, settings)
