"""The recipe's `[[corpus.step]]` tables of learned scorers and lists of words, and what a scorer is trained with.

Decides: without a threshold in the recipe a scorer drops by the threshold and on the side that its own card names.
Costs: nothing.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from danlu.config import Section, Size
from danlu.rules.settings import Rule

NAME = r"^[a-z][a-z0-9_]*$"


class Classifier(Rule):
    """Documents beyond a threshold of a trained scorer are dropped; several, told apart by name, may follow."""

    PATHS: ClassVar = ("model",)
    use: Literal["classifier"] = "classifier"
    name: str = Field(default="quality", pattern=NAME)
    """What the score is called in the report, e.g. "quality", "toxicity", "education"."""
    model: str = Field(min_length=1)
    """The scorer's .safetensors file, as `danlu corpus train-classifier` writes it."""
    min_score: float | None = None
    """A smaller score drops: `below_score`. Probabilities from 0 to 1, or 0 to 5 where the labels were such."""
    max_score: float | None = None
    """A larger score drops: `above_score`. With neither, the scorer's card says which side drops and from where; with
    min_score = 0 every document is scored and none dropped."""

    @model_validator(mode="after")
    def _ordered(self) -> Classifier:
        if self.min_score is not None and self.max_score is not None and self.min_score > self.max_score:
            raise ValueError("min_score is above max_score")
        return self


class Keywords(Rule):
    """Documents with too many words or phrases of the user's lists are dropped; without a limit they are counted."""

    PATHS: ClassVar = ("lists",)
    use: Literal["keywords"] = "keywords"
    name: str = Field(default="words", pattern=NAME)
    """What the lists are called in the report."""
    lists: dict[str, str] = Field(min_length=1)
    """Code of a language, or "*" for every document -> a UTF-8 file with a word or phrase a line (also .gz, .zst)."""
    max_matches: int | None = Field(default=None, ge=0)
    """More matches drop: `too_many_matches`. Published (C4, Raffel et al. 2020): 0."""
    max_share: float | None = Field(default=None, ge=0.0, le=1.0)
    """Code points of matches over those of all words and marks; more: `too_large_share`. Ours."""


class Transformer(Rule):
    """Documents beyond a threshold of a sequence classifier are dropped; without a threshold they are scored."""

    PATHS: ClassVar = ("model",)
    use: Literal["transformer"] = "transformer"
    name: str = Field(default="transformer", pattern=NAME)
    """What the score is called in the report, e.g. "education"."""
    model: str = Field(min_length=1)
    """A local Hugging Face directory: config.json, tokenizer.json, *.safetensors. Nothing is ever downloaded."""
    label: str = ""
    """Whose probability is the score, as config.json names it; empty: the head has one output, which is the score."""
    min_score: float | None = None
    """A smaller score drops: `below_score`. Published (FineWeb-Edu's classifier, 0 to 5): 3, rounded."""
    max_score: float | None = None
    """A larger score drops: `above_score`."""
    max_tokens: int = Field(default=512, ge=8)
    """Tokens of a window, special ones included. Published (FineWeb-Edu): 512."""
    windows: int = Field(default=1, ge=1)
    """The score is the mean over so many windows from the beginning of a text. Published: 1."""
    batch: int = Field(default=8, ge=1)
    """Windows of a text that are scored at a time."""

    @model_validator(mode="after")
    def _ordered(self) -> Transformer:
        if self.min_score is not None and self.max_score is not None and self.min_score > self.max_score:
            raise ValueError("min_score is above max_score")
        return self


class Features(Section):
    """What a scorer sees of a text: hashed words, pairs of words and runs of characters (Joulin et al. 2016)."""

    bucket_bits: int = Field(default=20, ge=10, le=24)
    """2^bits buckets share the features; a scorer's file has 4 bytes for each. fastText: 2,000,000 buckets."""
    word_ngram: int = Field(default=2, ge=0, le=5)
    """Runs of up to so many words; 0: no words."""
    min_characters: int = Field(default=3, ge=1, le=8)
    max_characters: int = Field(default=6, ge=0, le=8)
    """Runs of min to max characters within what stands between spaces, its ends marked; 0: none. fastText: 3 to 6."""
    read_characters: int = Field(default=5000, ge=100)
    """So much of the beginning of a text is read: the same in training and scoring. Ours."""

    @model_validator(mode="after")
    def _some(self) -> Features:
        if self.max_characters and self.min_characters > self.max_characters:
            raise ValueError("min_characters is above max_characters")
        if not self.word_ngram and not self.max_characters:
            raise ValueError("word_ngram = 0 and max_characters = 0 leave nothing to score by")
        return self


class Training(Section):
    """How a scorer is trained and what its score means."""

    name: str = Field(default="quality", pattern=NAME)
    scale: Literal["binary", "0-5"] = "binary"
    """Logistic regression of two classes, or ridge regression of labels from 0 to 5."""
    positive: Literal["keep", "drop"] = "keep"
    """What happens to a document with a high score: prose is kept, toxicity dropped."""
    features: Features = Field(default_factory=Features)
    strength: float = Field(default=30.0, gt=0.0)
    """C of the objective: the weight of the examples' losses against half the squared length of the weights."""
    held_out: float = Field(default=0.1, gt=0.0, lt=1.0)
    """The share of examples, by the hash of their text, that the scorer is not trained on but measured by."""
    precision: float | None = Field(default=None, gt=0.0, le=1.0)
    """The threshold is the one of the largest recall with this precision on what was held out."""
    recall: float | None = Field(default=None, gt=0.0, le=1.0)
    """The threshold is the largest one with this recall on what was held out; without either: recall 0.9."""
    cutoff: float = Field(default=3.0, ge=0.0, le=5.0)
    """Labels from here on count as positive where `scale` is "0-5". Published (FineWeb-Edu): 3."""
    max_passes: int = Field(default=100, ge=1)
    """Passes over the examples end there, or when the objective is proven to be within 0.1 %."""
    seed: int = Field(default=1, ge=0, lt=2**32)
    """Draws the order of the examples in each pass."""
    memory: Size = Field(default=4_000_000_000, gt=0)
    """Bytes that the features of all examples may take, 8 a feature; more is refused."""

    @model_validator(mode="after")
    def _one_aim(self) -> Training:
        if self.precision is not None and self.recall is not None:
            raise ValueError("precision and recall both choose the threshold: give one of them")
        return self

    @model_validator(mode="after")
    def _cutoff_has_effect(self) -> Training:
        if self.scale != "0-5" and self.is_changed("cutoff"):
            raise ValueError('cutoff has no effect without scale = "0-5"')
        return self
