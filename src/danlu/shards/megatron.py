"""Megatron's indexed dataset: a domain's shards as PREFIX.bin and PREFIX.idx, and such a pair opened.

Layout, little-endian: the .bin is the ids of all sequences behind one another; the .idx is MMIDIDX\\0\\0, version 1
(u64), the code of the ids' type (u8), the numbers of sequences and of document bounds (u64 each), then the length of
each sequence in ids (i32), its first byte in the .bin (i64), and the document bounds as sequence numbers from 0 (i64)
(Megatron-LM, core/datasets/indexed_dataset.py). Here a document is one sequence; pairs with several are read too.
Guarantees: an export is opened again and counted; the .idx comes last, so that a pair that has one is whole.
Costs: a copy of the ids, shard by shard; memory of the number of documents.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from danlu.errors import DamagedError, InputError, MissingError
from danlu.files import write_blocks, write_bytes, write_json
from danlu.log import progress
from danlu.records import Ints
from danlu.shards.documents import SPLITS, list_token_domains, open_documents
from danlu.shards.shard import read_provenance, verify_shard
from danlu.tokenizer.codec import Codec

MAGIC = b"MMIDIDX\x00\x00"
FORMAT = "danlu.megatron/1"
_HEADER_BYTES = 34
_NUMPY_NAMES = {1: "u1", 2: "i1", 3: "<i2", 4: "<i4", 5: "<i8", 8: "<u2"}
_TYPES: dict[int, np.dtype[Any]] = {code: np.dtype(name) for code, name in _NUMPY_NAMES.items()}
_CODES = {kind: code for code, kind in _TYPES.items()}
_BLOCK_TOKENS = 1 << 22
_ROWS = 1 << 16
CARD, NAMES = "card.json", "documents.parquet"
"""Endings of what danlu writes beside a pair."""
BYTES = "bytes"
"""The column of NAMES with the size of a document's UTF-8 text; the others are those of a shard's provenance."""


@dataclass(frozen=True, slots=True)
class Pair:
    """An open pair: document d is sequences bounds[d]:bounds[d+1], sequence s is lengths[s] ids from starts[s] on."""

    prefix: Path
    ids: npt.NDArray[Any]
    starts: Ints
    lengths: Ints
    bounds: Ints

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def document(self, number: int) -> npt.NDArray[Any]:
        """The ids of a document, in the type of the file."""
        sequences = range(int(self.bounds[number]), int(self.bounds[number + 1]))
        parts = [self.ids[self.starts[s] : self.starts[s] + self.lengths[s]] for s in sequences]
        return parts[0] if len(parts) == 1 else np.concatenate([self.ids[:0], *parts])


@dataclass(frozen=True, slots=True)
class Card:
    """What danlu writes beside a pair as PREFIX.card.json: the format itself says nothing of the tokenizer."""

    domain: str
    tokenizer_sha256: str
    vocab_size: int
    bos_id: int
    eos_id: int
    documents: int
    tokens: int
    format: str = FORMAT


def write_pair(
    prefix: Path, vocab_size: int, shards: Iterable[tuple[npt.NDArray[Any], Ints]]
) -> tuple[int, int]:
    """Writes PREFIX.bin and PREFIX.idx from (ids, lengths of the documents) parts; returns (documents, tokens).

    Ids are uint16 for fewer than 65,500, else int32: Megatron's own choice. Raises InputError for a document of 2^31
    tokens, which the format cannot hold.
    """
    kind = np.dtype("<u2") if vocab_size < 65_500 else np.dtype("<i4")
    beside(prefix, "idx").unlink(missing_ok=True)
    lengths: list[Ints] = []

    def blocks() -> Iterator[bytes]:
        for ids, counts in shards:
            lengths.append(counts)
            for first in range(0, len(ids), _BLOCK_TOKENS):
                yield ids[first : first + _BLOCK_TOKENS].astype(kind).tobytes()

    write_blocks(beside(prefix, "bin"), blocks())
    write_bytes(
        beside(prefix, "idx"), _index(prefix, kind, np.concatenate([np.zeros(0, np.int64), *lengths]))
    )
    return sum(map(len, lengths)), int(sum(counts.sum() for counts in lengths))


def open_pair(prefix: Path) -> Pair:
    """Opens a pair by its path without .bin and .idx, of danlu or of Megatron. Raises MissingError, DamagedError."""
    index, data = beside(prefix, "idx"), beside(prefix, "bin")
    for path in (index, data):
        if not path.is_file():
            raise MissingError(
                f"there is no {path}; an indexed dataset is a .bin and an .idx of the same name"
            )
    raw = index.read_bytes()
    kind, sequences, bounds = _read_header(index, raw)
    lengths = np.frombuffer(raw, "<i4", sequences, _HEADER_BYTES).astype(np.int64)
    pointers = np.frombuffer(raw, "<i8", sequences, _HEADER_BYTES + 4 * sequences).astype(np.int64)
    documents = np.frombuffer(raw, "<i8", bounds, _HEADER_BYTES + 12 * sequences).astype(np.int64)
    size = data.stat().st_size
    inside = (lengths >= 0) & (pointers >= 0) & (pointers <= size - lengths * kind.itemsize)
    if not inside.all() or (pointers % kind.itemsize).any():
        raise DamagedError(
            f"{data} is not the data that {index} describes: a sequence lies outside it; copy both again"
        )
    if documents[:1] != 0 or documents[-1:] != sequences or (np.diff(documents) < 0).any():
        raise DamagedError(
            f"{index}: its document bounds do not rise from 0 to {sequences} sequences; copy it again"
        )
    count = size // kind.itemsize
    ids = np.asarray(np.memmap(data, kind, "r", shape=(count,))) if count else np.zeros(0, kind)
    return Pair(prefix, ids, pointers // kind.itemsize, lengths, documents)


def export_pairs(tokens: Path, codec: Codec, folder: Path) -> list[tuple[Path, Card]]:
    """Every domain of both splits of a run's tokens/ as FOLDER/<split>/<domain>.bin and .idx.

    Beside each, .card.json names the tokenizer and .documents.parquet says where every document came from. Shards are
    verified before they are copied; documents keep their order in them.
    """
    found = [(split, domain) for split in SPLITS for domain in list_token_domains(tokens, split)]
    if not found:
        raise MissingError(f"{tokens} holds no token shards; build the tokens first")
    written = []
    with progress("export", None, "tokens") as bar:
        for split, domain in found:
            card = _export_domain(tokens / split / domain, codec, folder / split / domain)
            bar.advance(card.tokens)
            written.append((folder / split / domain, card))
    return written


def beside(prefix: Path, ending: str) -> Path:
    """PREFIX.ending; a dot within the prefix's name is part of it."""
    return prefix.with_name(f"{prefix.name}.{ending}")


def _index(prefix: Path, kind: np.dtype[Any], lengths: Ints) -> bytes:
    """The .idx of documents of one sequence each."""
    if len(lengths) and int(lengths.max()) > np.iinfo(np.int32).max:
        raise InputError(
            f"{prefix}: a document of {int(lengths.max()):,} tokens; an indexed dataset holds none of 2^31 or more. "
            f"Cut it when the corpus is read, or leave it out"
        )
    count = len(lengths)
    head = MAGIC + struct.pack("<QBQQ", 1, _CODES[kind], count, count + 1)
    pointers = (np.cumsum(lengths) - lengths) * kind.itemsize
    parts = ((lengths, "<i4"), (pointers, "<i8"), (np.arange(count + 1), "<i8"))
    return head + b"".join(array.astype(code).tobytes() for array, code in parts)


def _read_header(path: Path, raw: bytes) -> tuple[np.dtype[Any], int, int]:
    """The type of the ids and the numbers of sequences and of document bounds."""
    if raw[:9] != MAGIC or len(raw) < _HEADER_BYTES:
        raise DamagedError(
            f"{path} is no index of Megatron's (it does not begin with MMIDIDX); name another file"
        )
    version, code, sequences, bounds = struct.unpack_from("<QBQQ", raw, len(MAGIC))
    if version != 1 or code not in _TYPES:
        raise DamagedError(
            f"{path} has version {version} and type code {code}; version 1 with whole numbers "
            f"({', '.join(map(str, sorted(_TYPES)))}) can be read"
        )
    size = _HEADER_BYTES + 12 * sequences + 8 * bounds
    if len(raw) not in (size, size + sequences):  # a mode a sequence may follow, of data with pictures
        raise DamagedError(
            f"{path} has {len(raw):,} bytes where its {sequences:,} sequences take {size:,}; copy it again"
        )
    return _TYPES[code], sequences, bounds


def _export_domain(directory: Path, codec: Codec, prefix: Path) -> Card:
    documents = open_documents(directory, codec)
    beside(prefix, "idx").unlink(missing_ok=True)
    card = Card(
        domain=documents.domain,
        tokenizer_sha256=codec.sha256,
        vocab_size=codec.vocab_size,
        bos_id=codec.bos_id,
        eos_id=codec.eos_id,
        documents=len(documents),
        tokens=documents.tokens,
    )
    # First, so that whatever a kill leaves of the pair is known to be of danlu.
    write_json(beside(prefix, CARD), asdict(card))
    tables = [
        read_provenance(shard.path).append_column(BYTES, pa.array(shard.byte_counts))
        for shard in documents.shards
    ]
    write_bytes(beside(prefix, NAMES), _parquet(pa.concat_tables(tables)))

    def verified() -> Iterator[tuple[npt.NDArray[Any], Ints]]:
        for shard in documents.shards:
            verify_shard(shard.path)
            yield shard.ids, np.diff(shard.offsets)

    write_pair(prefix, codec.vocab_size, verified())
    pair = open_pair(prefix)
    if (len(pair), int(pair.lengths.sum())) != (card.documents, card.tokens):
        raise DamagedError(f"{prefix} does not read back as it was written; export the tokens again")
    return card


def _parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=_ROWS, compression="zstd", write_page_checksum=True)
    data: bytes = sink.getvalue().to_pybytes()
    return data
