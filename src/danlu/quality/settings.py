"""The recipe's `[[corpus.step]]` tables of this folder: normalisation, length, repetition."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from danlu.config import Section


class Normalize(Section):
    """Unicode form, line ends, control characters; drops what has lost characters to a bad decoding."""

    use: Literal["normalize"] = "normalize"
    unicode: Literal["NFC", "none"] = "NFC"
    max_replacement_share: float = Field(default=0.001, ge=0.0, le=1.0)
    """Share of U+FFFD above which a document is dropped as damaged."""


class Length(Section):
    """Documents outside the range of characters are dropped."""

    use: Literal["length"] = "length"
    min_characters: int = Field(default=32, ge=0)
    max_characters: int = Field(default=10_000_000, gt=0)

    @model_validator(mode="after")
    def _ordered(self) -> Length:
        if self.min_characters > self.max_characters:
            raise ValueError("min_characters is above max_characters")
        return self


class Repetition(Section):
    """Gopher's line repetition (Rae et al. 2021, table A1), plus one run of a single character."""

    use: Literal["repetition"] = "repetition"
    max_duplicate_line_share: float = Field(default=0.3, ge=0.0, le=1.0)
    """Duplicate lines over all non-empty lines."""
    max_duplicate_character_share: float = Field(default=0.2, ge=0.0, le=1.0)
    """Characters in duplicate lines over all characters."""
    max_character_share: float = Field(default=0.5, ge=0.0, le=1.0)
    """Share of the most frequent character that is not white space."""
