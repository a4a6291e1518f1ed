"""The recipe's `[mixture]`: in which shares the domains are read, in which order, and which are cut out of others."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from danlu.config import Section, nearest
from danlu.expressions import read_condition

Preset = Literal[
    "gpt3",
    "llama1",
    "llama3",
    "codellama",
    "codellama_python",
    "llemma",
    "prolong_64k",
    "codegen_nl",
    "codegen_multi",
    "codegen_mono",
]
"""The published mixtures, of presets.toml."""
WAYS = ("weights", "temperature", "method", "preset", "upsample")
"""The keys that say how the text is shared out, of which a mixture has at most one."""
TEXT_ATTRIBUTES = ("language", "source")
"""Attributes that are texts; all others are numbers."""

_NAME = re.compile(r"\w[\w.\-]*")
"""What a domain may be called."""
_DOTTED = re.compile(r"[^\W\d]\w*\.[^\W\d]")
_ORDER = re.compile(r"-?[^\W\d]\w*")


class Slice(Section):
    """Takes the documents that a condition holds for out of a domain; that domain keeps the rest."""

    of: str
    """The domain, one of `[[corpus.source]]`."""
    where: str
    """E.g. "perplexity_bucket == 2 and bytes > 500": names are `bytes`, `tokens`, `language`, `source` and the measures
    of the corpus steps, with underscores for dots. Of several slices of a domain the first whose condition holds takes
    a document; one for which a measure is missing that decides stays in the domain.
    """

    @field_validator("where")
    @classmethod
    def _can_be_read(cls, value: str) -> str:
        # Every word in it counts as a number's name: which there are is known when the corpus is built.
        words = set(re.findall(r"\w+", value)) - set(TEXT_ATTRIBUTES)
        try:
            read_condition(value, words, TEXT_ATTRIBUTES)
        except ValueError as error:
            hint = "; a dot in a measure's name becomes an underscore" if _DOTTED.search(value) else ""
            raise ValueError(f"{error}{hint}") from None
        return value


def check_name(name: str) -> str:
    """A slice's name as it is. Raises ValueError where it is none, because it becomes a folder's."""
    if not _NAME.fullmatch(name) or len(name.encode()) > 100:
        raise ValueError(
            f"a slice cannot be called {name!r}; write up to 100 letters, digits, _, - and . only"
        )
    return name


def check_order(attribute: str) -> str:
    """An order's attribute, "bytes" rising or "-bytes" falling, as it is. Raises ValueError where it is no name."""
    if not _ORDER.fullmatch(attribute):
        raise ValueError(
            f'{attribute!r} is no attribute; write one name, e.g. "bytes", or "-bytes" for falling order; '
            "a dot in a measure's name becomes an underscore"
        )
    if attribute.removeprefix("-") in TEXT_ATTRIBUTES:
        raise ValueError(f"{attribute!r} is a text; a domain is ordered by a number")
    return attribute


class MixtureSettings(Section):
    """Shares over tokens, in one of the ways weights, temperature, method, preset and upsample; none named: by size."""

    weights: dict[str, float] = Field(default_factory=dict)
    """The share of each domain, in any unit; every domain is named, 0: it is not read."""
    temperature: float = Field(default=1.0, gt=0.0)
    """Share proportional to tokens^(1/temperature): 1 by size, the larger the more even. The alpha of XLM and mT5 is
    1/temperature: their 0.7 and 0.3 are 1.43 and 3.33 here."""
    method: Literal["proportional", "unimax"] = "proportional"
    """unimax: as even as max_epochs allows (Chung et al. 2023)."""
    preset: Preset | None = None
    """The shares of a paper, of domains called as there; those of codegen are for three stages in turn."""
    upsample: dict[str, float] = Field(default_factory=dict)
    """Epochs of a domain relative to those not named: its share is proportional to tokens * factor."""
    max_epochs: float = Field(default=4.0, gt=0.0)
    """No domain is repeated more often in the whole run; what it would need beyond is given to the others in
    proportion. Repeats are worth little less than new text up to four passes (Muennighoff et al. 2023)."""
    slice: dict[Annotated[str, AfterValidator(check_name)], Slice] = Field(default_factory=dict)
    """Domains that are made of another's documents, chosen by what the corpus stores of each."""
    order_by: dict[str, Annotated[str, AfterValidator(check_order)]] = Field(default_factory=dict)
    """Domain or slice -> the attribute that its documents are read in the order of: "bytes" rising, "-bytes" falling;
    documents without the measure come last. A domain that is not named is read in a random order.
    """

    @field_validator("weights")
    @classmethod
    def _not_negative(cls, value: dict[str, float]) -> dict[str, float]:
        for domain, weight in value.items():
            if not 0.0 <= weight < float("inf"):
                raise ValueError(f"the weight of {domain!r} is {weight}; it must be 0 (not read) or above")
        if value and not any(value.values()):
            raise ValueError("every weight is 0; at least one domain must be read")
        return value

    @field_validator("upsample")
    @classmethod
    def _positive(cls, value: dict[str, float]) -> dict[str, float]:
        for domain, factor in value.items():
            if not 0.0 < factor < float("inf"):
                raise ValueError(
                    f"the factor of {domain!r} is {factor}; it must be above 0 (a domain is left out by its weight)"
                )
        return value

    @model_validator(mode="after")
    def _one_way(self) -> MixtureSettings:
        named = [key for key in WAYS if self.is_changed(key)]
        if len(named) > 1:
            raise ValueError(f"{' and '.join(named)} contradict: name one of them")
        return self


def check_slices(mixture: MixtureSettings, domains: Collection[str]) -> None:
    """Whether slices and orders fit the domains of `[[corpus.source]]`. Raises ValueError naming the key."""
    for name, cut in mixture.slice.items():
        if name in domains:
            raise ValueError(f"mixture.slice.{name}: {name!r} is a domain already; call the slice otherwise")
        if cut.of in mixture.slice:
            raise ValueError(
                f"mixture.slice.{name}.of: {cut.of!r} is a slice itself; name its domain and join the conditions"
            )
        if cut.of not in domains:
            raise ValueError(
                f"mixture.slice.{name}.of: no source is of domain {cut.of!r}; {nearest(cut.of, sorted(domains))}"
            )
    known = sorted({*domains, *mixture.slice})
    for domain in mixture.order_by:
        if domain not in known:
            raise ValueError(
                f"mixture.order_by: no domain or slice is called {domain!r}; {nearest(domain, known)}"
            )
