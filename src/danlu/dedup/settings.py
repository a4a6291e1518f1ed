"""The recipe's `[[corpus.step]]` tables of this folder: exact deduplication."""

from __future__ import annotations

from typing import Literal

from danlu.config import Section


class Exact(Section):
    """One document of each SHA-256 of the text is kept: the first that is held out for validation, else the first."""

    use: Literal["exact"] = "exact"
    ignore_white_space: bool = True
    """Runs of white space count as one space."""
