"""The recipe's `[tokenizer]`: which kind is trained and how, or a given tokenizer.json or .model.

Decides which keys act on which kind; one that would have no effect is refused. Costs: no import beside pydantic.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from danlu.config import Section, Size

Kind = Literal[
    "byte_bpe", "bpe", "wordpiece", "unigram", "sentencepiece_bpe", "sentencepiece_unigram", "char"
]
Pretokenizer = Literal["llama3", "gpt2", "digits", "cjk", "code", "latex"]
Role = Literal["bos", "eos", "pad", "unk"]

_SENTENCEPIECE = ("sentencepiece_bpe", "sentencepiece_unigram")
_ACTS_ON: dict[str, tuple[str, ...]] = {
    "pretokenizer": ("byte_bpe", "bpe", "unigram"),
    "score": ("wordpiece",),
    "character_coverage": ("bpe", "wordpiece", "unigram", "char", *_SENTENCEPIECE),
    "byte_fallback": ("bpe", "unigram", "char", *_SENTENCEPIECE),
    "max_token_length": ("byte_bpe", "bpe", "wordpiece", "unigram", *_SENTENCEPIECE),
    "split_digits": _SENTENCEPIECE,
    "dummy_prefix": _SENTENCEPIECE,
}
_BYTES = 256


class TokenizerSettings(Section):
    """`path` uses a given tokenizer.json or .model; otherwise one of `kind` is trained with `vocab_size`."""

    kind: Kind = "byte_bpe"
    """byte_bpe: GPT-2's and Llama 3's, every text is kept. bpe: merges of characters. unigram: Kudo 2018. wordpiece:
    BERT's, spaces are lost. sentencepiece_*: by the `sentencepiece` package, as Llama 2. char: a token a character."""
    vocab_size: Size = Field(default=16_384, ge=5)
    """Includes the special tokens. Lowered, and said so, when the text cannot fill it."""
    pretokenizer: Pretokenizer = "llama3"
    """What no token crosses. digits: each alone; cjk: Chinese and Japanese runs stand apart; code: indentation is one
    token; latex: commands, braces and digits stand apart."""
    score: Literal["frequency", "likelihood"] = "frequency"
    """Which pair wordpiece joins: the most frequent, or the largest f(ab) / (f(a) f(b))."""
    character_coverage: float = Field(default=0.9995, ge=0.98, le=1.0)
    """The characters that are learned make up this share of the sample (SentencePiece's default and range)."""
    byte_fallback: bool = True
    """256 byte tokens for all other characters, so that no text is lost; without them these are unknown."""
    max_token_length: int | None = Field(default=None, ge=1, le=512)
    """In characters; for byte_bpe and bpe in bytes, a space of byte_bpe being two, as `tokenizers` counts them.

    Not given: 16 for unigram and SentencePiece, as published, else 128.
    """
    split_digits: bool = True
    """SentencePiece: each digit is a token, as in Llama."""
    dummy_prefix: bool = True
    """SentencePiece: a space before a text, so that its first word has the token that it has elsewhere."""
    special_ids: dict[Role, int] = Field(default_factory=dict)
    """Ids of bos, eos, pad and unk, from 0 without gaps, -1 for none; not given: in this order, unk where needed."""
    sample_bytes: Size = Field(default=200_000_000, gt=0)
    """How much text trains it, drawn by domain weight."""
    path: str | None = None

    def ids_of_roles(self) -> dict[str, int]:
        """The id of each special token that there is, by role, ascending from 0."""
        wanted = ["bos", "eos", "pad", *(["unk"] if self._needs_unknown() else [])]
        ids: dict[str, int] = {role: number for role, number in self.special_ids.items() if number >= 0}
        ids = ids or {role: number for number, role in enumerate(wanted)}
        return dict(sorted(ids.items(), key=lambda item: item[1]))

    def longest_token(self) -> int:
        """`max_token_length`, or what is usual for the kind."""
        usual = 16 if self.kind == "unigram" or self.kind in _SENTENCEPIECE else 128
        return self.max_token_length or usual

    def byte_tokens(self) -> bool:
        """Whether 256 ids are tokens of a byte."""
        return self.kind == "byte_bpe" or (self.byte_fallback and self.kind in _ACTS_ON["byte_fallback"])

    def _needs_unknown(self) -> bool:
        # Unigram's models know an unknown piece even where bytes make it unreachable.
        return not self.byte_tokens() or "unigram" in self.kind or self.kind in _SENTENCEPIECE

    @model_validator(mode="after")
    def _keys_have_an_effect(self) -> TokenizerSettings:
        for name in type(self).model_fields:
            if self.path is not None and name not in ("path", "kind") and self.is_changed(name):
                raise ValueError(
                    f"{name} has no effect with path: the tokenizer that it names is used as it is"
                )
            if self.kind not in _ACTS_ON.get(name, (self.kind,)) and self.is_changed(name):
                raise ValueError(
                    f"{name} has no effect on kind = {self.kind!r}, only on {', '.join(_ACTS_ON[name])}"
                )
        return self

    @model_validator(mode="after")
    def _special_ids_fit(self) -> TokenizerSettings:
        if not self.special_ids:
            return self
        ids = self.ids_of_roles()
        if list(ids.values()) != list(range(len(ids))):
            raise ValueError(
                f"special_ids must be different and 0, 1, 2 and so on without a gap, or -1 for none, "
                f"not {', '.join(f'{role} {number}' for role, number in self.special_ids.items())}"
            )
        needed = {"eos", *(["unk"] if self._needs_unknown() else [])}
        if missing := sorted(needed - ids.keys()):
            raise ValueError(f"special_ids has no {missing[0]}, which kind = {self.kind!r} cannot do without")
        return self

    @model_validator(mode="after")
    def _room_for_more_than_specials(self) -> TokenizerSettings:
        least = len(self.ids_of_roles()) + (_BYTES if self.byte_tokens() else 0) + 1
        if self.vocab_size < least:
            raise ValueError(
                f"vocab_size = {self.vocab_size} leaves no room beside special and byte tokens; "
                f"kind = {self.kind!r} needs at least {least}"
            )
        return self
