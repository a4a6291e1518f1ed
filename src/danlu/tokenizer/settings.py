"""The recipe's `[tokenizer]`: train a byte-level BPE, or use a given tokenizer.json."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from danlu.config import Section, Size


class TokenizerSettings(Section):
    """`path` uses a given tokenizer.json; otherwise one is trained with `vocab_size`."""

    kind: Literal["byte_bpe"] = "byte_bpe"
    vocab_size: Size = Field(default=16_384, ge=260)
    """Includes the special tokens. Lowered, and said so, when the text cannot fill it."""
    pretokenizer: Literal["gpt2", "llama3"] = "llama3"
    sample_bytes: Size = Field(default=200_000_000, gt=0)
    """How much text trains it, drawn by domain weight."""
    path: str | None = None

    @model_validator(mode="after")
    def _path_decides_all(self) -> TokenizerSettings:
        for name in ("vocab_size", "pretokenizer", "sample_bytes"):
            if self.path is not None and self.is_changed(name):
                raise ValueError(
                    f"{name} has no effect with path: the tokenizer that it names is used as it is"
                )
        return self
