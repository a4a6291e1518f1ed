"""What the trainers read and give back: the sample in bounded pieces, its characters, its words, what was left out.

Guarantees: nothing is left out in silence: bytes that no token is learned of are counted by reason. Costs: every pass
reads the sample again; counted words are bounded, the rarest go first (lossy counting, Manku & Motwani 2002).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tokenizers import Tokenizer, pre_tokenizers

from danlu.errors import RecipeError
from danlu.log import progress
from danlu.tokenizer.codec import BOS, BYTE_TOKENS, EOS, PAD, UNK
from danlu.tokenizer.pretokens import training_pieces
from danlu.tokenizer.settings import TokenizerSettings

NAMES = {"bos": BOS, "eos": EOS, "pad": PAD, "unk": UNK}
"""What the special tokens of a trained tokenizer are called, by role."""

_PIECE_CHARACTERS = 65_536
_MOST_DISTINCT_BYTES = 24_000_000
_MOST_WORD_CHARACTERS = 8_000_000
"""Distinct words are counted up to so many characters together."""

_RUN = re.compile(r"\w+|[^\w\s]+")
_EXCERPTS, _EXCERPT_CHARACTERS = 16, 400


@dataclass(frozen=True)
class Learned:
    """A trained tokenizer, what to tell about it, and files that belong beside it, by name."""

    tokenizer: Tokenizer
    notes: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)


class Feed:
    """Reads the sample as often as a trainer needs, and counts what is in it and what is left out."""

    def __init__(self, texts: Callable[[], Iterator[str]]) -> None:
        self._texts = texts
        self.documents = self.bytes = 0
        self.left_out: Counter[str] = Counter()
        """Bytes that nothing is learned of, by reason; each of them once."""
        self.excerpts: list[str] = []
        """A little of the first texts, to show on what a tokenizer loses."""
        self._rare: frozenset[str] = frozenset()

    def pieces(self, title: str = "train tokenizer") -> Iterator[str]:
        """The sample in pieces of bounded size."""
        self.documents = self.bytes = 0
        self.excerpts = []
        with progress(title, None, "bytes") as bar:
            for text in self._texts():
                size = len(text.encode())
                self.documents += 1
                self.bytes += size
                if len(self.excerpts) < _EXCERPTS:
                    self.excerpts.append(text[:_EXCERPT_CHARACTERS])
                yield from training_pieces(text, _PIECE_CHARACTERS)
                bar.advance(size)

    def bounded_pieces(self, most_distinct_bytes: int = _MOST_DISTINCT_BYTES) -> Iterator[str]:
        """The sample without the words that are new once so many bytes of distinct words were seen.

        Trainers hold some 30 to 110 bytes for each of these bytes; text with spaces never comes so far, text without
        any has a new word in every clause.
        """
        seen, size = set[str](), 0
        for piece in self.pieces():
            new = set(_RUN.findall(piece)).difference(seen)
            if size < most_distinct_bytes:
                seen |= new
                size += len("".join(new).encode())
                yield piece
            else:
                yield from self._without(piece, new)

    def _without(self, piece: str, words: set[str]) -> Iterator[str]:
        start = 0
        for run in _RUN.finditer(piece) if words else ():
            if run[0] in words:
                self.leave_out_word(run[0])
                yield piece[start : run.start()]
                start = run.end()
        yield piece[start:]

    def alphabet(self, coverage: float, most: int | None = None, always: Collection[str] = ()) -> list[str]:
        """The most frequent characters that make up `coverage` of the sample, at most `most`; the others are counted.

        Those in `always` are learned in any case. Equal counts go by code point, so that the order of texts does not
        matter.
        """
        counts: Counter[str] = Counter()
        for piece in self.pieces("count characters"):
            counts.update(piece)
        total, taken, alphabet = counts.total(), 0, list[str]()
        for character, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            if taken >= coverage * total or len(alphabet) == most:
                break
            alphabet.append(character)
            taken += count
        self.leave_out_all_but({*alphabet, *always}, counts)
        return alphabet

    def leave_out_all_but(self, alphabet: Collection[str], counts: Mapping[str, int]) -> None:
        """Counts the characters of the sample that are not learned."""
        self._rare = frozenset(counts).difference(alphabet)
        size = sum(counts[character] * len(character.encode()) for character in self._rare)
        self.leave_out("characters outside of the alphabet", size)

    def leave_out(self, why: str, size: int) -> None:
        """Counts bytes of which nothing is learned."""
        if size:
            self.left_out[why] += size

    def leave_out_word(
        self, word: str, count: int = 1, why: str = "words that memory has no room for"
    ) -> None:
        """Counts a word that is not learned, without those of its characters that were counted before."""
        known = word if self._rare.isdisjoint(word) else "".join(c for c in word if c not in self._rare)
        self.leave_out(why, count * len(known.encode()))

    def rare_characters(self) -> list[str]:
        """Those that are not in the alphabet, by code point."""
        return sorted(self._rare)

    def words(
        self, splitter: pre_tokenizers.PreTokenizer, most_characters: int = _MOST_WORD_CHARACTERS
    ) -> list[tuple[str, int]]:
        """Every pre-token with its count, the most frequent first, equal ones by code point."""
        counts: Counter[str] = Counter()
        size, least = 0, 1
        for piece in self.pieces("count words"):
            for word, _ in splitter.pre_tokenize_str(piece):
                if word not in counts:
                    size += len(word)
                counts[word] += 1
            while size > most_characters:
                size, least = self._drop_rare(counts, least), least + 1
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))

    def _drop_rare(self, counts: Counter[str], least: int) -> int:
        """Drops the words counted no more than `least` times; returns the characters of those that stay."""
        rare = [word for word, count in counts.items() if count <= least]
        for word in rare:
            self.leave_out_word(word, counts.pop(word))
        return sum(map(len, counts))


def known_parts(pieces: Iterable[str], alphabet: Sequence[str]) -> Iterator[str]:
    """Pieces cut where a character is not in the alphabet, without it: what it parts must not be joined."""
    unknown = re.compile(f"[^{re.escape(''.join(alphabet))}]+")
    for piece in pieces:
        yield from filter(None, unknown.split(piece))


def make_vocabulary(settings: TokenizerSettings, tokens: Iterable[str]) -> dict[str, int]:
    """Ids of the special tokens, of bytes where they are tokens, and of the learned ones in their order."""
    first = [NAMES[role] for role in settings.ids_of_roles()]
    bytes_ = BYTE_TOKENS if settings.byte_tokens() and settings.kind != "byte_bpe" else ()
    # A token spelt as a special one would become it.
    taken = {*first, *bytes_}
    learned = (token for token in tokens if token not in taken)
    return {token: number for number, token in enumerate([*first, *bytes_, *learned])}


def room_for(settings: TokenizerSettings) -> int:
    """How many tokens can be learned beside special and byte tokens."""
    return settings.vocab_size - len(make_vocabulary(settings, ()))


def require_room(settings: TokenizerSettings, characters: int) -> None:
    """Raises RecipeError where the vocabulary cannot hold the single characters."""
    room = room_for(settings)
    if characters >= room:
        raise RecipeError(
            f"tokenizer.vocab_size = {settings.vocab_size} leaves room for {room} tokens, but the sample has "
            f"{characters} characters at character_coverage = {settings.character_coverage:g}. Ask for at least "
            f"{settings.vocab_size - room + characters + 1}, or for less coverage"
        )


def unreachable_score(scores: Iterable[float], names: Iterable[str]) -> float:
    """A score with which a piece always loses against its single characters."""
    return (min(scores) - 1.0) * (max(map(len, names)) + 1)
