"""What a labelling endpoint is asked, and what it may cost at most.

Decides: a key goes over https alone, or to this machine; there is always a cap of tokens, and one of money needs
prices. Costs: nothing.
"""

from __future__ import annotations

import ipaddress
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from danlu.config import Section, Size

Scale = Literal["keep", "0-5"]
"""What a label may be: "keep" or "drop"; or a whole number of points."""


class Endpoint(Section):
    """An OpenAI-compatible server that labels documents."""

    url: str
    """Up to what comes before `/chat/completions`, e.g. "https://host/v1"; http only to this machine."""
    model: str = Field(min_length=1)
    """As the server names it. Its labels are those of "endpoint:MODEL"."""
    key_variable: str = Field(default="", pattern=r"^\w*$")
    """The environment variable that holds the key; empty: none is sent. The key itself is never stored."""
    max_characters: int = Field(default=4_000, ge=1)
    """How much of a document's beginning is sent."""
    max_answer_tokens: int = Field(default=256, ge=1)
    """After so many an answer is cut off, and cannot be read."""
    max_tokens: Size = Field(default=1_000_000, gt=0)
    """The most tokens, sent and received, that all the labels of a folder may cost; asking ends before it is passed."""
    max_cost: float | None = Field(default=None, gt=0.0)
    """The most money, in the unit of the prices."""
    input_price: float = Field(default=0.0, ge=0.0)
    """Of a million tokens sent."""
    output_price: float = Field(default=0.0, ge=0.0)
    """Of a million tokens received."""
    timeout_seconds: float = Field(default=60.0, gt=0.0)
    """How long one answer is waited for."""
    tries: int = Field(default=6, ge=1)
    """How often one question is put while the server is busy (429), failing (5xx) or silent."""
    concurrency: int = Field(default=4, ge=1, le=64)
    """Questions under way at a time."""

    @field_validator("url")
    @classmethod
    def _safe(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f'{url!r} is no address; write e.g. "https://host/v1"')
        if parts.username is not None or parts.query or parts.fragment:
            raise ValueError(
                "an address takes no user, query or fragment; name the key's variable in key_variable"
            )
        if parts.scheme == "http" and not is_local(parts.hostname):
            raise ValueError(f"http to {parts.hostname} would send texts and key in the open; use https")
        return url.rstrip("/")

    @model_validator(mode="after")
    def _money_has_prices(self) -> Endpoint:
        if self.max_cost is not None and not (self.input_price and self.output_price):
            raise ValueError("max_cost needs input_price and output_price, per million tokens")
        return self


def is_local(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
