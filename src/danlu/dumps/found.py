"""What a reader of dumps yields: one article or thread with its place and raw markup, or what is broken.

Decides: markup is not turned into text here: `markup` goes to the `extract` of wikitext.py or threads.py, which is pure
and can run in a process of its own. Costs: nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Article:
    """A document of a dump, from byte `start` to `end` of the decompressed stream."""

    id: str
    """Its number, which is its own within `site` alone."""
    start: int
    end: int
    markup: bytes
    """JSON that the format's `extract` reads."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """What the dump says of the document, beside what `extract` finds in it."""
    site: str = ""
    """The site that was dumped, as "cooking.stackexchange.com"; "" where neither dump nor path says it."""


@dataclass(frozen=True, slots=True)
class Broken:
    """What is no document: a stable reason, the bytes from `start` to `end`, and one line of detail."""

    reason: str
    start: int
    end: int
    detail: str = ""
