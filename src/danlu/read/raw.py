"""What a format reader yields: a text with its place, or a damage with its reason. Nothing is skipped in silence.

Decides: one bad record never stops a source; it becomes a counted `Damage` that says where. Costs: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Raw:
    """One text as read. `start` and `end` are a byte range of the decompressed source (of the row in Parquet).

    `group` is set where several texts must fall on one side of the split; None means that the id decides.
    """

    text: str
    source: str
    start: int
    end: int
    group: str | None = None
    id: str | None = None
    replaced: int = 0
    """Undecodable bytes that became U+FFFD."""


@dataclass(frozen=True, slots=True)
class Damage:
    """What could not be read as it should: a stable reason, where, and one line of detail."""

    reason: str
    source: str
    line: int | None = None
    detail: str = ""
