"""What goes into a format reader and what comes out: a piece of a source; a text with its place, or a damage.

Decides: one bad record never stops a source; it becomes a counted `Damage` that says where. Costs: nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Piece:
    """A file of a source, or a part of one that can be read by itself.

    `start` and `end` count bytes in lines of text, row groups in Parquet, tracked files in a git repository; `end` is
    None where the piece goes on to the end. `size` is about how many bytes are read for it.
    """

    path: str
    """Relative to the recipe's folder where it lies below it, absolute, a URL, or a text that every Python carries."""
    name: str
    """`path` as it is shown: what is not UTF-8 in it is U+FFFD."""
    start: int
    end: int | None
    size: int
    revision: str = ""
    """The commit that is read, of a git repository."""
    can_cut: bool = True
    """Whether a part of it can be read by itself; not where a server gives no parts, or does not say the size."""


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
    metadata: Mapping[str, str] = field(default_factory=dict)
    line: int | None = None
    """Its line in the source, where that is known."""


@dataclass(frozen=True, slots=True)
class Damage:
    """What could not be read as it should: a stable reason, where, and one line of detail."""

    reason: str
    source: str
    line: int | None = None
    detail: str = ""

    def describe(self) -> str:
        """Where and what, for a message: "a.jsonl, line 3: no text in 'text'; the fields are: ..."."""
        place = self.source if self.line is None else f"{self.source}, line {self.line}"
        return f"{place}: {self.detail or self.reason}"
