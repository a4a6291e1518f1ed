"""Megatron's indexed dataset: a domain's shards as PREFIX.bin and PREFIX.idx, and such a pair opened.

The way back, a pair as the shards of a domain, is megatron_import.py.

Layout, little-endian: the .bin is the ids of all sequences behind one another; the .idx is MMIDIDX\\0\\0, version 1
(u64), the code of the ids' type (u8), the numbers of sequences and of document bounds (u64 each), then the length of
each sequence in ids (i32), its first byte in the .bin (i64), and the document bounds as sequence numbers from 0 (i64)
(Megatron-LM, core/datasets/indexed_dataset.py). Here a document is one sequence; pairs with several are read too.
Guarantees: an export is opened again and counted; the .idx comes last, so that a pair that has one is whole.
Costs: an export is a copy of the ids, shard by shard, and memory of the number of documents; a pair is read through
memory maps, and checking its index reads that in pieces.
"""

from __future__ import annotations

import itertools
import mmap
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from danlu.errors import DamagedError, InputError, MissingError
from danlu.files import sync_directory, whole_file, write_blocks, write_bytes, write_json
from danlu.log import progress
from danlu.records import Ints, TokenShard
from danlu.shards.documents import SPLITS, list_token_domains, open_documents
from danlu.shards.shard import read_provenance, verify_shard
from danlu.shards.tensor_file import map_file
from danlu.tokenizer.codec import Codec

MAGIC = b"MMIDIDX\x00\x00"
FORMAT = "danlu.megatron/1"
_HEADER_BYTES = 34
_NUMPY_NAMES = {1: "u1", 2: "i1", 3: "<i2", 4: "<i4", 5: "<i8", 8: "<u2"}
_TYPES: dict[int, np.dtype[Any]] = {code: np.dtype(name) for code, name in _NUMPY_NAMES.items()}
_CODES = {kind: code for code, kind in _TYPES.items()}
_BLOCK_TOKENS = 1 << 22
_BLOCK_DOCUMENTS = 1 << 18
_ROWS = 1 << 16
CARD, NAMES = "card.json", "documents.parquet"
"""Endings of what danlu writes beside a pair."""
BYTES = "bytes"
"""The column of NAMES with the size of a document's UTF-8 text; the others are those of a shard's provenance."""


@dataclass(frozen=True, slots=True)
class Pair:
    """An open pair, all arrays of which are memory maps; those of the index are not aligned.

    Document d is sequences bounds[d]:bounds[d+1], sequence s is lengths[s] ids from byte pointers[s] of the .bin on.
    """

    prefix: Path
    ids: npt.NDArray[Any]
    lengths: npt.NDArray[np.int32]
    pointers: Ints
    bounds: Ints

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def document(self, number: int) -> npt.NDArray[Any]:
        """The ids of a document, in the type of the file."""
        parts = []
        for sequence in range(int(self.bounds[number]), int(self.bounds[number + 1])):
            start = int(self.pointers[sequence]) // self.ids.itemsize
            parts.append(self.ids[start : start + int(self.lengths[sequence])])
        return parts[0] if len(parts) == 1 else np.concatenate([self.ids[:0], *parts])

    def ends(self, first: int, stop: int) -> Ints:
        """Ids of documents [first, stop) before each of them and after the last, int64 (stop - first + 1,)."""
        bounds = self.bounds[first : stop + 1]
        lengths = self.lengths[bounds[0] : bounds[-1]]
        sums: Ints = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])[bounds - bounds[0]]
        return sums


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
    """Opens a pair by its path without .bin and .idx, of danlu or of Megatron, and checks its whole index.

    Raises MissingError, DamagedError.
    """
    pair = map_pair(prefix)
    bounds = pair.bounds
    if not len(bounds) or bounds[0] != 0 or bounds[-1] != len(pair.lengths):
        raise _not_rising(pair)
    for first in range(0, len(pair), _BLOCK_DOCUMENTS):
        check_documents(pair, first, min(first + _BLOCK_DOCUMENTS, len(pair)))
    return pair


def map_pair(prefix: Path) -> Pair:
    """`open_pair`, but the documents of the index are not looked at: `check_documents` before they are read."""
    index, data = beside(prefix, "idx"), beside(prefix, "bin")
    for path in (index, data):
        if not path.is_file():
            raise MissingError(
                f"there is no {path}; an indexed dataset is a .bin and an .idx of the same name"
            )
    raw, ids = map_file(index), map_file(data)
    kind, sequences, bounds = _read_header(index, raw)
    return Pair(
        prefix,
        np.frombuffer(ids, kind, len(ids) // kind.itemsize),
        np.frombuffer(raw, "<i4", sequences, _HEADER_BYTES),
        np.frombuffer(raw, "<i8", sequences, _HEADER_BYTES + 4 * sequences),
        np.frombuffer(raw, "<i8", bounds, _HEADER_BYTES + 12 * sequences),
    )


def check_documents(pair: Pair, first: int, stop: int) -> None:
    """Whether the sequences of documents [first, stop) are within the .bin; raises DamagedError."""
    bounds = pair.bounds[first : stop + 1]
    if (bounds[1:] < bounds[:-1]).any() or bounds[0] < 0 or bounds[-1] > len(pair.lengths):
        raise _not_rising(pair)
    lengths = pair.lengths[bounds[0] : bounds[-1]].astype(np.int64)
    pointers = pair.pointers[bounds[0] : bounds[-1]]
    size = pair.ids.itemsize
    # Against the ids alone: what is left of an id at the end of a .bin is in none of its documents.
    inside = (lengths >= 0) & (pointers >= 0) & (pointers <= pair.ids.nbytes - lengths * size)
    if not inside.all() or (pointers % size).any():
        raise DamagedError(
            f"{beside(pair.prefix, 'bin')} is not the data that {beside(pair.prefix, 'idx')} describes: a sequence "
            f"lies outside it; copy both again"
        )


def _not_rising(pair: Pair) -> DamagedError:
    return DamagedError(
        f"{beside(pair.prefix, 'idx')}: its document bounds do not rise from 0 to {len(pair.lengths)} sequences; "
        f"copy it again"
    )


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


def _read_header(path: Path, raw: mmap.mmap | bytes) -> tuple[np.dtype[Any], int, int]:
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
    _write_names(beside(prefix, NAMES), documents.shards)

    def verified() -> Iterator[tuple[npt.NDArray[Any], Ints]]:
        for shard in documents.shards:
            verify_shard(shard.path)
            yield shard.ids, np.diff(shard.offsets)

    write_pair(prefix, codec.vocab_size, verified())
    pair = open_pair(prefix)
    if (len(pair), int(pair.lengths.sum())) != (card.documents, card.tokens):
        raise DamagedError(f"{prefix} does not read back as it was written; export the tokens again")
    return card


def _write_names(path: Path, shards: Sequence[TokenShard]) -> None:
    """Where all documents of the shards came from, in memory a shard at a time."""
    tables = (
        read_provenance(shard.path).append_column(BYTES, pa.array(shard.byte_counts)) for shard in shards
    )
    first = next(tables)
    with whole_file(path) as temporary:
        with pq.ParquetWriter(temporary, first.schema, compression="zstd", write_page_checksum=True) as file:
            for table in itertools.chain([first], tables):
                file.write_table(table, row_group_size=_ROWS)
        sync_directory(temporary)
