"""The types that flow from station to station: Document -> TokenShard -> Sample -> Batch.

Numpy at most, so that every folder can speak them. Constants that two ends of the pipe share live here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

IGNORE_INDEX = -100
"""A label with this value has no loss."""

PAD_DOCUMENT = -1
"""The document number of padding: it attends to nothing and has no loss."""

Role = Literal["embedding", "head", "matrix", "gain"]
"""What a parameter is to the optimizer: rates and decay go by it."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Document:
    """One text and where it came from.

    `start` and `end` are the byte range in the (decompressed) source. `group` decides the side of the
    train/validation split: parts of one source file share it, so that none leaks across.
    """

    id: str
    text: str
    source: str
    domain: str
    group: str
    start: int = 0
    end: int = 0
    given_id: bool = False
    """Whether the source names the id, so that a second document with it is the same one again."""
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What the source says beside the text: "url", "title", "language", "code_language", fields of the recipe."""
    language: str = ""
    """The code that the source states or a step found; "" where none has."""


@dataclass(frozen=True, slots=True)
class TokenShard:
    """Token ids of many documents of one domain, memory-mapped. Document i is ids[offsets[i]:offsets[i+1]]."""

    path: Path
    ids: npt.NDArray[np.uint16] | npt.NDArray[np.uint32]
    offsets: Ints
    id_hashes: npt.NDArray[np.uint64]
    byte_counts: Ints


@dataclass(frozen=True, slots=True)
class Piece:
    """Tokens [start, start+length) of document number `document` of a domain (its number in shard order)."""

    domain: str
    document: int
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class Sample:
    """One row of a batch. All arrays are int64 of shape (T,); `number` counts samples since the start of the run.

    `documents` numbers the pieces 0, 1, ... within the row and is PAD_DOCUMENT on padding.
    """

    inputs: Ints
    labels: Ints
    positions: Ints
    documents: Ints
    pieces: tuple[Piece, ...]
    domain: str
    number: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Samples stacked: arrays of shape (B, T). `first` is the number of the first sample."""

    inputs: Ints
    labels: Ints
    positions: Ints
    documents: Ints
    samples: tuple[Sample, ...]
    first: int

    @property
    def target_tokens(self) -> int:
        """How many labels have a loss."""
        return int((self.labels != IGNORE_INDEX).sum())
