"""The recipe's `[tokenizer]`: train a byte-level BPE, or use a given tokenizer.json."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from danlu.config import Section, Size, nearest

KINDS = ("byte_bpe",)
PRETOKENIZERS = ("gpt2", "llama3")


class TokenizerSettings(Section):
    """`path` uses a given tokenizer.json; otherwise one is trained with `vocab_size`."""

    kind: str = "byte_bpe"
    vocab_size: Size = Field(default=16_384, ge=260)
    """Includes the special tokens. Lowered, and said so, when the text cannot fill it."""
    pretokenizer: Literal["gpt2", "llama3"] = "llama3"
    sample_bytes: Size = Field(default=200_000_000, gt=0)
    """How much text trains it, drawn by domain weight."""
    path: str | None = None

    @field_validator("kind")
    @classmethod
    def _known_kind(cls, value: str) -> str:
        if value not in KINDS:
            raise ValueError(f"kind {value!r} is not supported yet; {nearest(value, KINDS)}")
        return value

    @model_validator(mode="after")
    def _path_decides_all(self) -> TokenizerSettings:
        for name in ("vocab_size", "pretokenizer", "sample_bytes"):
            if self.path is not None and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(
                    f"{name} has no effect with path: the tokenizer that it names is used as it is"
                )
        return self
