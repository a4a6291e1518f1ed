"""The recipe's `[[corpus.step]]` table of this folder: which personal data is looked for and what happens to it."""

from __future__ import annotations

from typing import ClassVar, Literal, get_args

from pydantic import Field, field_validator, model_validator

from danlu.rules.settings import Rule

Kind = Literal[
    "email",
    "phone",
    "ip",
    "iban",
    "credit_card",
    "bank_account",
    "national_id",
    "passport",
    "licence_plate",
    "secret",
    "url_credentials",
    "name",
]
KINDS: tuple[Kind, ...] = get_args(Kind)


class Pii(Rule):
    """E-mail addresses, telephone numbers, IP addresses, accounts, identity numbers, keys and listed names, in English
    and Chinese texts; some German, French, Spanish, Italian and British forms. Dolma and FineWeb mask the first two or
    three kinds of these in every document."""

    PATHS: ClassVar = ("names",)
    use: Literal["pii"] = "pii"
    action: Literal["mask", "drop", "count"] = "mask"
    """"mask": each item becomes its kind's placeholder. "drop": documents with more than `max_items` go. "count": the
    ledger says how many there are, texts stay as they are."""
    kinds: list[Kind] = Field(default=list(KINDS), min_length=1)
    """What is looked for; all by default. "ip": only addresses of the public internet. "passport", "bank_account" and
    what has no check digit of its own are found only behind a word that says so. "name" needs `names`."""
    names: dict[str, str] = Field(default={})
    """Language code, or "*" for all -> a text file of names, one a line, `#` begins a comment. A document whose
    language is unknown is searched for all. Names in letters match whole words as written or in capitals; Chinese names
    match anywhere."""
    max_items: int = Field(default=0, ge=0)
    """With action = "drop": documents with more items than this are dropped: `personal_data`. Dolma: 5 with masking
    below."""
    placeholders: dict[Kind, str] = Field(default={})
    """Kind -> what stands in its place, e.g. {email = "[mail]"}; by default "<EMAIL>", "<CREDIT_CARD>", and so on."""

    @field_validator("kinds")
    @classmethod
    def _each_once(cls, kinds: list[Kind]) -> list[Kind]:
        if len(set(kinds)) < len(kinds):
            raise ValueError("a kind is named twice")
        return kinds

    @model_validator(mode="after")
    def _what_has_effect(self) -> Pii:
        if self.max_items and self.action != "drop":
            raise ValueError('max_items has no effect without action = "drop"')
        if self.placeholders and self.action != "mask":
            raise ValueError('placeholders have no effect without action = "mask"')
        if idle := set(self.placeholders) - set(self.kinds):
            raise ValueError(f"placeholders are given for what is not looked for: {', '.join(sorted(idle))}")
        if self.names and "name" not in self.kinds:
            raise ValueError('names have no effect without "name" in kinds')
        if self.is_changed("kinds") and "name" in self.kinds and not self.names:
            raise ValueError('"name" in kinds needs lists of them: give names')
        return self

    def placeholder(self, kind: Kind) -> str:
        """What stands in the place of an item of this kind."""
        return self.placeholders.get(kind, f"<{kind.upper()}>")
