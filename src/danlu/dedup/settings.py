"""The recipe's `[[corpus.step]]` tables of this folder: what counts as seen before, and what is done about it."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from danlu.config import Section


class Exact(Section):
    """One of equal documents, paragraphs, runs of sentences or lines stays: the first held out, else the first."""

    PATHS: ClassVar = ("against",)
    use: Literal["exact"] = "exact"
    ignore_white_space: bool = True
    """Runs of white space count as one space."""
    unit: Literal["document", "paragraph", "sentences", "line"] = "document"
    """What is compared. Documents are dropped, smaller units are cut out. "sentences" = runs of three (C4)."""
    min_characters: int = Field(default=0, ge=0)
    """Smaller units than this are never cut; documents go by no size. Dolma's deduper: 0."""
    against: list[str] = Field(default_factory=list)
    """Earlier corpora (globs of their parts): what they hold counts as seen before and is never written."""

    @model_validator(mode="after")
    def _document_has_no_size(self) -> Exact:
        if self.unit == "document" and self.min_characters:
            raise ValueError('min_characters has no effect with unit = "document"; remove it, or use length')
        return self


class MinHash(Section):
    """One document of each cluster of near copies stays; the defaults are FineWeb's."""

    PATHS: ClassVar = ("against",)
    use: Literal["minhash"] = "minhash"
    ngram: int = Field(default=5, ge=1)
    """Words in a shingle. A document with fewer words has no signature and is never dropped."""
    bands: int = Field(default=14, ge=1)
    """All rows of one band equal make a pair: probability 1 - (1 - s^rows)^bands at Jaccard s."""
    rows: int = Field(default=8, ge=1)
    """Hashes in a band."""
    threshold: float | None = Field(default=None, gt=0.0, lt=1.0)
    """Where the probability should rise: solves bands and rows of at most `hashes` values, instead of giving them."""
    hashes: int = Field(default=112, ge=1)
    """The most hashes that `threshold` may use."""
    min_jaccard: float = Field(default=0.0, ge=0.0, le=1.0)
    """Pairs whose shingle sets have less in common are refused after comparing them; 0 believes every equal band."""
    keep: Literal["first", "longest"] = "first"
    """Who stays, after earlier corpora and what is held out for validation."""
    seed: int = Field(default=1, ge=0, lt=2**32)
    """Draws the hash functions."""
    against: list[str] = Field(default_factory=list)
    """Earlier corpora (globs of their parts): a document like one of theirs is dropped."""

    @model_validator(mode="after")
    def _solved_or_given(self) -> MinHash:
        given = [key for key in ("bands", "rows") if self.is_changed(key)]
        if self.threshold is not None and given:
            raise ValueError(f"threshold solves {given[0]}: give one of them")
        if self.threshold is None and self.is_changed("hashes"):
            raise ValueError("hashes has no effect without threshold: bands x rows says how many there are")
        return self


class Substrings(Section):
    """Runs of words that the corpus has twice are cut, at word boundaries (Lee et al. 2022)."""

    use: Literal["substrings"] = "substrings"
    min_words: int = Field(default=50, ge=2)
    """The shortest run that counts; the published one is 50 tokens."""
    keep: Literal["first", "none"] = "first"
    """Whether the first occurrence stays; "none" is what the published tool does."""


class Boilerplate(Section):
    """A line that many documents have is cut from all of them."""

    use: Literal["boilerplate"] = "boilerplate"
    min_documents: int = Field(default=10, ge=2)
    """In how many documents a line must stand."""
    min_characters: int = Field(default=10, ge=1)
    """Shorter lines, white space at the ends apart, stay."""


class Decontaminate(Section):
    """Text of evaluation sets is found by n-grams and taken out of the corpus."""

    PATHS: ClassVar = ("against", "tokenizer")
    use: Literal["decontaminate"] = "decontaminate"
    against: list[str] = Field(min_length=1)
    """Evaluation sets: globs of .jsonl and .txt files (also .gz); one example a line."""
    fields: list[str] = Field(default_factory=list)
    """The fields of a JSON line that are looked for; empty: every string in it."""
    unit: Literal["words", "tokens", "characters"] = "words"
    """What an n-gram is made of; case, accents, punctuation and white space do not count, except in tokens."""
    ngram: int | None = Field(default=None, ge=2)
    """Units in an n-gram: 13 words (GPT-3), 10 tokens (Llama 2) or 50 characters (GPT-4) where not given.

    In scripts without spaces each character is a word, and a name may have 13: give 30 for sets in such scripts.
    """
    tokenizer: str = ""
    """The tokenizer.json that `unit = "tokens"` cuts with."""
    max_share: float = Field(default=0.0, ge=0.0, lt=1.0)
    """A document of which a larger share of the units is found is dropped; 0: any n-gram is enough."""
    action: Literal["drop", "cut"] = "drop"
    """Drop the document, or cut what was found."""

    @model_validator(mode="after")
    def _what_has_effect(self) -> Decontaminate:
        if (self.unit == "tokens") != bool(self.tokenizer):
            raise ValueError('tokenizer and unit = "tokens" belong together: give both or none')
        if self.action == "cut" and self.max_share:
            raise ValueError('max_share has no effect with action = "cut": everything found is cut')
        return self


SharedStep = Exact | MinHash | Substrings | Boilerplate
"""The steps that look at all documents at once."""
