"""Trains by counting with `tokenizers`: byte-level BPE, BPE, WordPiece by frequency; and single characters.

Decides: equal counts are merged smaller pair of ids first (the rule of `tokenizers`), ids of single characters are
given beforehand, since the library numbers them in the order of a hash table. Guarantees: the same texts in any order
give the same tokens. Costs: about 2 MB of text a second; memory with the distinct words, up to 2.6 GB (Sennrich
et al. 2016; Radford et al. 2019; Schuster & Nakajima 2012).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from danlu.tokenizer.codec import UNK
from danlu.tokenizer.feed import (
    NAMES,
    Feed,
    Learned,
    known_parts,
    make_vocabulary,
    require_room,
    room_for,
)
from danlu.tokenizer.pretokens import make_pretokenizer, make_word_splitter
from danlu.tokenizer.settings import TokenizerSettings

MIN_PAIR_COUNT = 2
CONTINUATION = "##"
_LONGEST_WORD = 100
"""WordPiece takes a longer word as unknown (Devlin et al. 2019)."""


def train_byte_bpe(settings: TokenizerSettings, feed: Feed) -> Learned:
    """All 256 bytes are in the vocabulary, so that every text encodes."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = make_pretokenizer(settings.pretokenizer)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=settings.vocab_size,
        min_frequency=MIN_PAIR_COUNT,
        special_tokens=[NAMES[role] for role in settings.ids_of_roles()],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        max_token_length=settings.longest_token() + 1,  # the library takes it as the first that is too long
        show_progress=False,
    )
    tokenizer.train_from_iterator(feed.bounded_pieces(), trainer)
    return Learned(tokenizer)


def train_bpe(settings: TokenizerSettings, feed: Feed) -> Learned:
    """BPE over characters; others become bytes, or unknown."""
    alphabet = feed.alphabet(settings.character_coverage)
    require_room(settings, len(alphabet))
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = make_pretokenizer(settings.pretokenizer, byte_level=False)
    trainer = trainers.BpeTrainer(
        vocab_size=room_for(settings),
        min_frequency=MIN_PAIR_COUNT,
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        max_token_length=settings.longest_token() + 1,  # the library takes it as the first that is too long
        show_progress=False,
    )
    trained.train_from_iterator(known_parts(feed.bounded_pieces(), alphabet), trainer)
    return Learned(_bpe(settings, alphabet, json.loads(trained.to_str())["model"]["merges"]))


def train_characters(settings: TokenizerSettings, feed: Feed) -> Learned:
    """One token a character, the most frequent ones."""
    alphabet = feed.alphabet(settings.character_coverage, room_for(settings))
    return Learned(_bpe(settings, alphabet, ()))


def train_wordpiece(settings: TokenizerSettings, feed: Feed) -> Learned:
    """WordPiece whose pairs are chosen by frequency."""
    alphabet = feed.alphabet(settings.character_coverage)
    symbols = word_symbols(neighbours(feed.pieces("find symbols")), alphabet)
    require_room(settings, len(symbols))
    tokens = most_frequent_pieces(
        feed.bounded_pieces(), symbols, room_for(settings), settings.longest_token(), MIN_PAIR_COUNT
    )
    return Learned(make_wordpiece(settings, tokens))


def most_frequent_pieces(
    pieces: Iterable[str], symbols: Sequence[str], size: int, longest: int, min_count: int
) -> list[str]:
    """The tokens of `tokenizers`' own WordPiece trainer, which merges as BPE does, in the order of their ids."""
    characters = sorted({symbol[-1] for symbol in symbols})
    trained = Tokenizer(models.WordPiece(unk_token=UNK))
    trained.pre_tokenizer = make_word_splitter()
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        min_frequency=min_count,
        # Only so do the symbols get ids that do not depend on a hash table.
        special_tokens=list(symbols),
        limit_alphabet=len(characters),
        initial_alphabet=characters,
        show_progress=False,
    )
    trained.train_from_iterator(pieces, trainer)
    vocab = trained.get_vocab(with_added_tokens=False)
    # The library's trainer of WordPiece has no cap of its own.
    return [token for token in sorted(vocab, key=lambda name: vocab[name]) if len(_plain(token)) <= longest]


def neighbours(pieces: Iterable[str]) -> Iterator[str]:
    """Each two characters that stand together in a word, once: whether a word ends is a matter of two characters."""
    splitter, seen = make_word_splitter(), set[tuple[str, str]]()
    for piece in pieces:
        new = set(pairwise(piece)) - seen
        seen |= new
        for both in map("".join, new):
            if [word for word, _ in splitter.pre_tokenize_str(both)] == [both]:
                yield both


def word_symbols(words: Iterable[str], alphabet: Iterable[str]) -> list[str]:
    """Each visible character, and each that occurs later in a word as a continuation, by code point."""
    visible = {character for character in alphabet if not character.isspace()}
    later = {character for word in words for character in word[1:]}
    return [*sorted(visible), *(CONTINUATION + character for character in sorted(later & visible))]


def make_wordpiece(settings: TokenizerSettings, tokens: Iterable[str]) -> Tokenizer:
    """A WordPiece tokenizer of these tokens."""
    vocab = make_vocabulary(settings, tokens)
    tokenizer = Tokenizer(
        models.WordPiece(
            vocab,
            unk_token=UNK,
            max_input_chars_per_word=_LONGEST_WORD,
            continuing_subword_prefix=CONTINUATION,
        )
    )
    tokenizer.pre_tokenizer = make_word_splitter()
    tokenizer.decoder = decoders.WordPiece(prefix=CONTINUATION, cleanup=False)
    return mark_special(tokenizer, settings)


def mark_special(tokenizer: Tokenizer, settings: TokenizerSettings) -> Tokenizer:
    """Names the special tokens, which are in the vocabulary already."""
    tokenizer.add_special_tokens([AddedToken(NAMES[role], special=True) for role in settings.ids_of_roles()])
    return tokenizer


def _bpe(settings: TokenizerSettings, alphabet: Sequence[str], merges: Sequence[Sequence[str]]) -> Tokenizer:
    """A BPE of characters; a merge that would spell a special or byte token is left out, with what builds on it."""
    reserved = make_vocabulary(settings, ()).keys()
    made, kept = set(alphabet), list[tuple[str, str]]()
    for left, right in merges:
        if left in made and right in made and left + right not in reserved:
            made.add(left + right)
            kept.append((left, right))
    # Different merges may give the same token.
    tokens = dict.fromkeys([*sorted(alphabet), *(left + right for left, right in kept)])
    unknown = UNK if "unk" in settings.ids_of_roles() else None
    tokenizer = Tokenizer(
        models.BPE(
            make_vocabulary(settings, tokens),
            kept,
            unk_token=unknown,
            fuse_unk=False,
            byte_fallback=settings.byte_tokens(),
        )
    )
    if merges:
        tokenizer.pre_tokenizer = make_pretokenizer(settings.pretokenizer, byte_level=False)
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    return mark_special(tokenizer, settings)


def _plain(token: str) -> str:
    return token.removeprefix(CONTINUATION)
