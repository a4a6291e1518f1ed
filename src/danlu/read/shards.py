"""Sources cut into shards of about the same size, which workers read on their own.

Decides: large files of lines are cut at bytes, Parquet at row groups, repositories between files; a compressed file,
text whose documents are not lines, and what a server gives only whole, is one piece; small files are put together in
order, never across sources. Guarantees: the shards in order give what the sources give when read whole, document by
document, for every `shard_bytes`, and a file in another encoding is refused for all or for none; damages in a later
part of a file say the byte instead of the line. Costs: one listing, and the footer of each large Parquet file.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from danlu.extract.git import list_files
from danlu.formats.parquet import row_group_bytes
from danlu.formats.raw import Damage, Piece
from danlu.formats.settings import COMPRESSIONS
from danlu.read.documents import format_of_piece, place_of, read_pieces
from danlu.read.find import whole_pieces
from danlu.read.settings import Source
from danlu.records import Document


@dataclass(frozen=True, slots=True)
class Shard:
    """What one task reads: pieces of one source, `source` being its place among the sources."""

    number: int
    source: int
    pieces: tuple[Piece, ...]

    @property
    def size(self) -> int:
        """About how many bytes are read for it."""
        return sum(piece.size for piece in self.pieces)

    def to_json(self) -> dict[str, Any]:
        """Plain values for a JSON file; `from_json` is the way back."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Shard:
        """A shard of `to_json`."""
        return cls(value["number"], value["source"], tuple(Piece(**piece) for piece in value["pieces"]))


def plan_shards(sources: Sequence[Source], base: Path, shard_bytes: int) -> list[Shard]:
    """The shards of all sources in order, each of at most `shard_bytes` of input where it can be cut so.

    Raises InputError as `read_documents` where a source has no file, or a file no known format.
    """
    shards: list[Shard] = []
    for number, source in enumerate(sources):
        pieces = [
            part
            for piece in whole_pieces(source, base)
            for part in _cut(piece, format_of_piece(piece, source), source, base, shard_bytes)
        ]
        for some in _group(pieces, shard_bytes):
            shards.append(Shard(len(shards), number, some))
    return shards


def read_shard(
    shard: Shard,
    sources: Sequence[Source],
    base: Path,
    max_document_bytes: int,
    damaged: Callable[[Damage], None],
) -> Iterator[Document]:
    """The documents of a shard, in order; errors and damages as `read_documents`."""
    yield from read_pieces(shard.pieces, sources[shard.source], base, max_document_bytes, damaged)


def _group(pieces: Sequence[Piece], shard_bytes: int) -> Iterator[tuple[Piece, ...]]:
    some: list[Piece] = []
    size = 0
    for piece in pieces:
        if some and size + piece.size > shard_bytes:
            yield tuple(some)
            some, size = [], 0
        some.append(piece)
        size += piece.size
    if some:
        yield tuple(some)


def _cut(piece: Piece, kind: str, source: Source, base: Path, shard_bytes: int) -> list[Piece]:
    if piece.size <= shard_bytes or not piece.can_cut:
        return [piece]
    if kind == "parquet":
        return _cut_between(piece, row_group_bytes(place_of(piece, base)), shard_bytes)
    if kind == "repository":
        files = list_files(Path(place_of(piece, base)), piece.revision)
        return _cut_between(piece, [file.size for file in files], shard_bytes)
    is_lines = kind == "jsonl" or (kind in ("txt", "md") and source.document == "line")
    is_compressed = Path(piece.path).suffix.lower() in COMPRESSIONS
    if not is_lines or is_compressed or codecs.lookup(source.encoding).name != "utf-8":
        return [piece]
    # Equal parts: a small rest would be a task of its own.
    count = -(-piece.size // shard_bytes)
    bounds = [piece.size * number // count for number in range(count + 1)]
    return [
        replace(piece, start=start, end=None if end == piece.size else end, size=end - start)
        for start, end in pairwise(bounds)
    ]


def _cut_between(piece: Piece, sizes: Sequence[int], shard_bytes: int) -> list[Piece]:
    """Parts of whole items, as few as there can be; the piece as it is where it has no items."""
    bounds, size = [0], 0
    for number, more in enumerate(sizes):
        if size and size + more > shard_bytes:
            bounds.append(number)
            size = 0
        size += more
    bounds.append(len(sizes))
    parts = [
        replace(piece, start=start, end=end, size=sum(sizes[start:end])) for start, end in pairwise(bounds)
    ]
    return parts if len(parts) > 1 else [piece]
