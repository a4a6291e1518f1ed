"""The causal objective: every token predicts the next one of its own document.

Decides how pieces of documents become one row of inputs, labels, positions and document numbers. Guarantees: a label
is the next token of the same document, read past the end of a cut piece; the last token of a document and padding
have none. Costs: four slice assignments a piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from danlu.records import IGNORE_INDEX, PAD_DOCUMENT, Ints

PieceTokens = tuple[npt.NDArray[Any], int]
"""A piece's tokens followed by the next token of its document, where there is one; and the piece's length."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What a row looks like: the id of padding, and the recipe's two choices on document boundaries."""

    pad_id: int
    document_mask: bool = True
    reset_positions: bool = True


@dataclass(frozen=True, slots=True)
class Row:
    """The four arrays of a row, int64 (T,); all of them are written by `fill`."""

    inputs: Ints
    labels: Ints
    positions: Ints
    documents: Ints


def fill(row: Row, pieces: Sequence[PieceTokens], layout: Layout) -> None:
    """Writes pieces behind one another into a row, then padding.

    `documents` numbers the pieces 0, 1, ... (all 0 without a document mask) and is PAD_DOCUMENT on padding;
    `positions` restart at 0 in every piece, or count along the row, and are 0 on padding.
    """
    column = 0
    for number, (tokens, length) in enumerate(pieces):
        end = column + length
        row.inputs[column:end] = tokens[:length]
        row.labels[column : column + len(tokens) - 1] = tokens[1:]
        if len(tokens) == length:  # the document ends here
            row.labels[end - 1] = IGNORE_INDEX
        first = 0 if layout.reset_positions else column
        row.positions[column:end] = np.arange(first, first + length)
        row.documents[column:end] = number if layout.document_mask else 0
        column = end
    if column < len(row.inputs):
        row.inputs[column:] = layout.pad_id
        row.labels[column:] = IGNORE_INDEX
        row.positions[column:] = 0
        row.documents[column:] = PAD_DOCUMENT
