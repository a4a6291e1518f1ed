"""Megatron's indexed dataset: a domain's shards as PREFIX.bin and PREFIX.idx, and such a pair as shards.

Layout, little-endian: the .bin is the ids of all sequences behind one another; the .idx is MMIDIDX\\0\\0, version 1
(u64), the code of the ids' type (u8), the numbers of sequences and of document bounds (u64 each), then the length of
each sequence in ids (i32), its first byte in the .bin (i64), and the document bounds as sequence numbers from 0 (i64)
(Megatron-LM, core/datasets/indexed_dataset.py). Here a document is one sequence; pairs with several are read too.
Guarantees: the same ids and documents there and back; the .idx comes last, so that a pair that has one is whole.
Costs: a copy of the ids, shard by shard; memory of the number of documents.
"""

from __future__ import annotations

import itertools
import os
import shutil
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
from danlu.files import (
    TEMPORARY,
    digest,
    disk_errors,
    read_json,
    replace_directory,
    sync_directory,
    write_bytes,
    write_json,
)
from danlu.log import progress
from danlu.records import Document, Ints
from danlu.tokenizer.codec import Codec
from danlu.tokens.documents import list_shards, list_token_domains, open_documents
from danlu.tokens.shard import ShardHeader, read_provenance, require_tokenizer, verify_shard, write_shard

MAGIC = b"MMIDIDX\x00\x00"
FORMAT = "danlu.megatron/1"
_HEADER_BYTES = 34
_NUMPY_NAMES = {1: "u1", 2: "i1", 3: "<i2", 4: "<i4", 5: "<i8", 8: "<u2"}
_TYPES: dict[int, np.dtype[Any]] = {code: np.dtype(name) for code, name in _NUMPY_NAMES.items()}
_CODES = {kind: code for code, kind in _TYPES.items()}
_SHARD_TOKENS = 1 << 24
_CARD, _NAMES = "card.json", "documents.parquet"
_SPLITS = ("train", "validation")


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


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a pair: so many documents lacked BOS or EOS and were given it; empty ones are left out."""

    documents: int
    tokens: int
    bos_added: int
    eos_added: int
    empty: int


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
            for first in range(0, len(ids), _SHARD_TOKENS):
                yield ids[first : first + _SHARD_TOKENS].astype(kind).tobytes()

    _write_blocks(beside(prefix, "bin"), blocks())
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
    found = [(split, domain) for split in _SPLITS for domain in list_token_domains(tokens, split)]
    if not found:
        raise MissingError(f"{tokens} holds no token shards; build the tokens first")
    written = []
    with progress("export", None, "tokens") as bar:
        for split, domain in found:
            card = _export_domain(tokens / split / domain, codec, folder / split / domain)
            bar.advance(card.tokens)
            written.append((folder / split / domain, card))
    return written


def import_pair(prefix: Path, codec: Codec, directory: Path) -> Imported:
    """Writes a pair as the shards of tokens/<split>/<domain>, `directory`, in ids of the run's tokenizer.

    A pair of danlu's is refused with another tokenizer, and its documents keep their names and sources; others are
    named by their place in the .bin. A document without BOS or EOS is given it. Raises InputError where the directory
    holds shards already, and for an id that the tokenizer does not have.
    """
    if list_shards(directory):
        raise InputError(f"{directory} holds shards already; give the domain another name, or remove them")
    pair = open_pair(prefix)
    names = _read_beside(pair, codec)
    inputs = digest([prefix.name, len(pair), int(pair.lengths.sum())])
    header = ShardHeader(directory.name, codec.sha256, codec.vocab_size, codec.bos_id, codec.eos_id, inputs)
    # Beside the split, where no half-written domain is taken for one.
    new = directory.parents[1] / f"{TEMPORARY}{directory.parent.name}-{directory.name}"
    shutil.rmtree(new, ignore_errors=True)
    counts = np.zeros(5, np.int64)
    for number, (first, stop) in enumerate(itertools.pairwise(_shard_bounds(pair))):
        documents, ids, changed = _to_documents(pair, codec, range(first, stop), names)
        write_shard(new / f"shard-{number:05d}.safetensors", header, documents, ids)
        counts += [len(ids), sum(map(len, ids)), *changed]
    directory.parent.mkdir(parents=True, exist_ok=True)
    replace_directory(new, directory)
    return Imported(*counts.tolist())


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
    tables = [read_provenance(shard.path) for shard in documents.shards]
    write_bytes(beside(prefix, _NAMES), _parquet(pa.concat_tables(tables)))
    card = Card(
        domain=documents.domain,
        tokenizer_sha256=codec.sha256,
        vocab_size=codec.vocab_size,
        bos_id=codec.bos_id,
        eos_id=codec.eos_id,
        documents=len(documents),
        tokens=documents.tokens,
    )
    write_json(beside(prefix, _CARD), asdict(card))

    def verified() -> Iterator[tuple[npt.NDArray[Any], Ints]]:
        for shard in documents.shards:
            verify_shard(shard.path)
            yield shard.ids, np.diff(shard.offsets)

    write_pair(prefix, codec.vocab_size, verified())
    return card


def _read_beside(pair: Pair, codec: Codec) -> pa.Table | None:
    """The names of the documents of a pair that danlu wrote, with this tokenizer; None of another's pair."""
    path = beside(pair.prefix, _CARD)
    if not path.exists():
        return None
    value = read_json(path)
    try:
        card = Card(**value)
        names = pq.read_table(pa.BufferReader(beside(pair.prefix, _NAMES).read_bytes()))
    except (TypeError, OSError, pa.ArrowException) as error:
        raise DamagedError(f"{path} is damaged ({error}); export the tokens again") from error
    if card.format != FORMAT:
        raise DamagedError(f"{path} has format {card.format!r}, this danlu reads {FORMAT!r}")
    header = ShardHeader(card.domain, card.tokenizer_sha256, card.vocab_size, card.bos_id, card.eos_id, "")
    require_tokenizer(path, header, codec)
    if not names.num_rows == card.documents == len(pair):
        raise DamagedError(f"{path} and its pair are of different exports; export the tokens again")
    return names


def _to_documents(
    pair: Pair, codec: Codec, numbers: range, names: pa.Table | None
) -> tuple[list[Document], list[npt.NDArray[np.uint32]], Ints]:
    """Documents with BOS and EOS; and how many were given BOS, how many EOS, and how many were empty."""
    rows = names.slice(numbers.start, len(numbers)).to_pylist() if names is not None else None
    documents, found, changed = [], [], np.zeros(3, np.int64)
    for number in numbers:
        ids = pair.document(number).astype(np.int64)
        if len(ids) == 0:
            changed[2] += 1
            continue
        if ids.min() < 0 or ids.max() >= codec.vocab_size:
            wrong = int(ids.max() if ids.min() >= 0 else ids.min())
            raise InputError(
                f"{beside(pair.prefix, 'bin')}: document {number} has the id {wrong}, which the run's tokenizer of "
                f"{codec.vocab_size} tokens does not have; give the run the tokenizer that wrote the pair"
            )
        bos = bool(ids[0] != codec.bos_id)
        eos = bool(ids[-1] != codec.eos_id or len(ids) + bos < 2)
        changed += (bos, eos, False)
        whole = np.concatenate([[codec.bos_id] * bos, ids, [codec.eos_id] * eos]).astype(np.uint32)
        place = rows[number - numbers.start] if rows else _place(pair, number)
        documents.append(Document(text=codec.decode(whole.tolist()), domain="", **place))
        found.append(whole)
    return documents, found, changed


def _place(pair: Pair, number: int) -> dict[str, Any]:
    """Where a document lies, in bytes of the .bin."""
    name, size = beside(pair.prefix, "bin").name, pair.ids.itemsize
    first, last = int(pair.bounds[number]), int(pair.bounds[number + 1]) - 1
    start, end = int(pair.starts[first]) * size, int(pair.starts[last] + pair.lengths[last]) * size
    return {"id": f"{name}:{number}", "source": name, "start": start, "end": end, "group": f"{name}:{number}"}


def _shard_bounds(pair: Pair) -> list[int]:
    """The first document of each shard of about _SHARD_TOKENS tokens, then the number of documents."""
    ends = np.concatenate([[0], np.cumsum(pair.lengths)])[pair.bounds]
    marks = np.searchsorted(ends, np.arange(0, int(ends[-1]), _SHARD_TOKENS), side="right") - 1
    return [int(bound) for bound in np.unique(np.append(marks, len(pair)))]


def _parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _write_blocks(path: Path, blocks: Iterable[bytes]) -> None:
    """Writes a file that need not fit into memory, whole or not at all."""
    temporary = path.with_name(f"{TEMPORARY}{path.name}")
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as file:
                file.writelines(blocks)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        sync_directory(path.parent)
