"""The recipe's `[tokens]`: how documents become samples."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from danlu.config import Section


class PackingSettings(Section):
    """How documents are cut and packed: what of [tokens] a stage may change."""

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
    def _positions_need_mask(self) -> Self:
        if self.reset_positions and not self.document_mask:
            raise ValueError(
                "reset_positions without document_mask gives two tokens that see each other the same position; "
                "set reset_positions = false or document_mask = true"
            )
        return self


class TokensSettings(PackingSettings):
    """Also which documents become one, and what comes as ids already."""

    join: dict[str, str] = Field(default_factory=dict)
    """Domain -> a metadata field of its documents, e.g. "repository", or "folder": the first folder below the fixed
    part of its source's paths. Documents with the same value become one, in order of source and place, with an empty
    line in between, up to 16 MB; those without stay alone and are counted.
    """
    megatron: dict[Annotated[str, Field(pattern=r"^\w[\w.\-]*$")], str] = Field(default_factory=dict)
    """Domain -> an indexed dataset of Megatron-LM, PATH for PATH.bin and PATH.idx, relative to the recipe: training
    text in ids of the tokenizer that tokenizer.path names; missing BOS and EOS are added and counted.
    """
