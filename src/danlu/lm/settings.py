"""The recipe's `[[corpus.step]]` table of this folder: perplexity under n-gram models, and what is kept by it.

Decides: without cutoffs in the recipe, head, middle and tail are told apart by the percentiles on the model's card.
Costs: nothing.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from danlu.config import nearest
from danlu.quality.settings import LANGUAGES
from danlu.rules.settings import Rule

CARD_SUFFIX = ".card.json"
"""What a model's card is called, behind the model's own name."""
ANY = "*"
"""In the place of a language's code: every document whose language has no entry of its own."""
Bucket = Literal["head", "middle", "tail"]
BUCKETS: tuple[Bucket, ...] = ("head", "middle", "tail")
"""From what the model expects most to what it expects least, numbered from 0."""


class Perplexity(Rule):
    """Perplexity under an n-gram model of the document's language, in the buckets of CCNet (Wenzek et al. 2020)."""

    PATHS: ClassVar = ("models",)
    use: Literal["perplexity"] = "perplexity"
    models: dict[str, str] = Field(min_length=1)
    """Code of a language, or "*" for all others -> its model: ARPA (also .gz), as `danlu corpus train-lm` writes it, or
    a binary file of KenLM. Documents whose language has none are kept and not measured."""
    tokens: Literal["auto", "spaces", "words", "characters"] = "auto"
    """What a model's words are; "auto": as its card says, "spaces" without one. "spaces": runs between white space;
    "words": without case, digits as 0, punctuation apart; "characters": so, and scripts without spaces by character."""
    head_share: float = Field(default=0.3, gt=0.0, lt=1.0)
    """The share of the model's held-out documents that are head. Published (CCNet): 0.3."""
    middle_share: float = Field(default=0.6, gt=0.0, lt=1.0)
    """The share of them that are head or middle; the rest is tail. Published (CCNet): 0.6."""
    cutoffs: dict[str, list[float]] = Field(default={})
    """Code of a language, or "*" -> the perplexity from which a document is middle, and the one from which it is tail;
    in place of the card's."""
    keep: list[Bucket] = Field(default=["head", "middle", "tail"], min_length=1)
    """The buckets that stay; the others are dropped by name: `head`, `middle`, `tail`."""
    max_perplexity: float | None = Field(default=None, gt=1.0)
    """A larger perplexity drops: `too_perplexing`."""

    @field_validator("models", "cutoffs")
    @classmethod
    def _known(cls, by_language: dict[str, object]) -> dict[str, object]:
        for code in by_language:
            if code != ANY and code not in LANGUAGES:
                raise ValueError(f"no language has the code {code!r}; {nearest(code, sorted(LANGUAGES))}")
        return by_language

    @model_validator(mode="after")
    def _consistent(self) -> Perplexity:
        if self.head_share >= self.middle_share:
            raise ValueError("head_share must be below middle_share, which counts head and middle")
        for code, pair in self.cutoffs.items():
            if len(pair) != 2 or not 1.0 <= pair[0] <= pair[1]:
                raise ValueError(f"cutoffs.{code} must be two perplexities in order, e.g. [250.0, 600.0]")
            if code not in self.models and code != ANY:
                raise ValueError(f"cutoffs.{code} has no effect: there is no models.{code}")
        return self
