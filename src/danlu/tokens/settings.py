"""The recipe's `[tokens]`: how documents become samples."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from danlu.config import Section


class TokensSettings(Section):
    """How documents are cut and packed."""

    packing: Literal["best_fit", "chunk", "greedy", "none"] = "best_fit"
    """best_fit: longest first, each where it leaves the least room, almost no padding and few documents cut; chunk: one
    stream cut at every sample's end, no padding, most documents cut; greedy: documents in their order, the next sample
    where one does not fit; none: a document (or a sample's length of it) each.
    """
    document_mask: bool = True
    """Tokens attend only within their own document."""
    reset_positions: bool = True
    """Positions start at 0 in every piece."""

    @model_validator(mode="after")
    def _positions_need_mask(self) -> TokensSettings:
        if self.reset_positions and not self.document_mask:
            raise ValueError(
                "reset_positions without document_mask gives two tokens that see each other the same position; "
                "set reset_positions = false or document_mask = true"
            )
        return self
