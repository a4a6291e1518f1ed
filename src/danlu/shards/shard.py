"""One token shard: the ids of many documents of one domain in one file, with where each came from beside it.

Guarantees: every document starts with BOS and ends with EOS, every id is below the vocabulary size (checked on
write); a shard is whole or absent; the header names the tokenizer, so that no other one can be taken for it.
Costs: uint16 ids where the vocabulary allows, else uint32; writing holds 24 bytes a document and what is handed over at
a time; opening reads the header, verifying reads everything.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from danlu.errors import DamagedError, MismatchError
from danlu.files import TEMPORARY, disk_errors, sync_directory
from danlu.records import Document, TokenShard
from danlu.rng import hash_text
from danlu.shards.tensor_file import Spool, open_tensors, verify_tensors, write_tensors
from danlu.tokenizer.codec import Codec

FORMAT = "danlu.tokens/1"
"""Raised with every change of what a shard holds or of the order in which samples are made from shards."""

READABLE = (FORMAT,)
"""All formats that a shard may have. An older one stays here, with its reader and its file in tests/golden."""

_PROVENANCE = ("id", "source", "start", "end", "group")
_GROUP_ROWS = 8192


@dataclass(frozen=True, slots=True)
class ShardHeader:
    """What a shard says of itself. `inputs` is a hash of the corpus part that it was made from."""

    domain: str
    tokenizer_sha256: str
    vocab_size: int
    bos_id: int
    eos_id: int
    inputs: str
    checksum: str = ""


def provenance_path(path: Path) -> Path:
    """shard-00000.safetensors -> shard-00000.documents.parquet."""
    return path.with_name(path.name.removesuffix(".safetensors") + ".documents.parquet")


def write_shard(
    path: Path, header: ShardHeader, documents: Sequence[Document], ids: Sequence[npt.NDArray[np.uint32]]
) -> None:
    """Writes a shard and its provenance; `ids[i]` is document i with BOS and EOS."""
    with new_shard(path, header) as shard:
        shard.add(documents, ids)


@contextmanager
def new_shard(path: Path, header: ShardHeader, extra: tuple[str, ...] = ()) -> Iterator[ShardWriter]:
    """A shard to add documents to, there once the block ends; `extra`: metadata that the provenance keeps.

    The provenance goes first and the shard last, so that a shard that exists is complete. A full disk is an error
    that leaves what was there.
    """
    shard = ShardWriter(path, header, extra)
    try:
        yield shard
        shard.finish()
    finally:
        shard.close()


class ShardWriter:
    """A shard that grows; build with `new_shard`."""

    def __init__(self, path: Path, header: ShardHeader, extra: tuple[str, ...]) -> None:
        self._path, self._header = path, header
        small = header.vocab_size <= 1 << 16
        self._ids = Spool(path.with_name(f"{TEMPORARY}{path.name}.ids"), np.uint16 if small else np.uint32)
        self._provenance = _Provenance(provenance_path(path), extra)
        self._columns: dict[str, list[npt.NDArray[Any]]] = {
            "lengths": [np.zeros(1, np.int64)],
            "id_hashes": [np.zeros(0, np.uint64)],
            "byte_counts": [np.zeros(0, np.int64)],
        }

    def add(
        self,
        documents: Sequence[Document],
        ids: Sequence[npt.NDArray[np.uint32]],
        byte_counts: Sequence[int] | None = None,
    ) -> None:
        """Adds documents; `ids[i]` is document i with BOS and EOS, `byte_counts` those of texts that are not there."""
        if not documents:
            return
        lengths = np.array([len(tokens) for tokens in ids], dtype=np.int64)
        stream = np.concatenate(ids)
        _check_stream(self._path, self._header, stream, np.concatenate([[0], np.cumsum(lengths)]))
        if byte_counts is None:
            byte_counts = [len(document.text.encode()) for document in documents]
        self._ids.append(stream)
        self._provenance.add(documents)
        hashes = [hash_text(document.id) for document in documents]
        self._columns["lengths"].append(lengths)
        self._columns["id_hashes"].append(np.array(hashes, dtype=np.uint64))
        self._columns["byte_counts"].append(np.array(byte_counts, dtype=np.int64))

    def finish(self) -> None:
        """Writes what was added."""
        found = {name: np.concatenate(arrays) for name, arrays in self._columns.items()}
        offsets = np.cumsum(found.pop("lengths"))
        arrays: dict[str, npt.NDArray[Any] | Spool] = {"ids": self._ids, "offsets": offsets, **found}
        self._provenance.finish()
        write_tensors(self._path, arrays, _to_metadata(self._header))

    def close(self) -> None:
        """Removes what is only of use while it grows."""
        self._ids.close()
        self._provenance.close()


def open_shard(path: Path) -> TokenShard:
    """Maps a shard into memory; reads its header only. Raises DamagedError, MissingError."""
    arrays, metadata = open_tensors(path)
    _from_metadata(path, metadata)
    try:
        shard = TokenShard(path, arrays["ids"], arrays["offsets"], arrays["id_hashes"], arrays["byte_counts"])
    except KeyError as error:
        raise DamagedError(
            f"{path} has no array {error}; remove it and type the same command again"
        ) from error
    documents = len(shard.offsets) - 1
    whole = documents >= 0 and shard.offsets[0] == 0 and shard.offsets[-1] == len(shard.ids)
    if not whole or len(shard.id_hashes) != documents or len(shard.byte_counts) != documents:
        raise DamagedError(
            f"{path}: its arrays do not fit together; remove it and type the same command again"
        )
    return shard


def read_header(path: Path) -> ShardHeader:
    """What a shard says of itself."""
    return _from_metadata(path, open_tensors(path)[1])


def verify_shard(path: Path) -> None:
    """Reads a shard whole and compares its checksum; raises DamagedError naming the file."""
    open_shard(path)
    verify_tensors(path)


def read_provenance(path: Path) -> pa.Table:
    """Columns id, source, start, end, group of a shard's documents, in its order; and parts of joined ones."""
    beside = provenance_path(path)
    try:
        return pq.read_table(pa.BufferReader(beside.read_bytes()))
    except (OSError, pa.ArrowException) as error:
        raise DamagedError(
            f"{beside} cannot be read ({error}); remove {path} and build the tokens again"
        ) from error


def require_tokenizer(path: Path, header: ShardHeader, codec: Codec) -> None:
    """Refuses a shard that another tokenizer wrote; the message has what differs."""
    pairs = {
        "SHA-256": (header.tokenizer_sha256[:12], codec.sha256[:12]),
        "vocabulary size": (header.vocab_size, codec.vocab_size),
        "BOS id": (header.bos_id, codec.bos_id),
        "EOS id": (header.eos_id, codec.eos_id),
    }
    wrong = [
        f"{name} {theirs} where the run's has {ours}"
        for name, (theirs, ours) in pairs.items()
        if theirs != ours
    ]
    if wrong:
        raise MismatchError(
            f"{path} was written with another tokenizer: {', '.join(wrong)}. "
            f"Restore that tokenizer.json, or build the tokens again"
        )


def _check_stream(
    path: Path, header: ShardHeader, stream: npt.NDArray[np.uint32], offsets: npt.NDArray[np.int64]
) -> None:
    if not len(stream):
        return
    if int(stream.max()) >= header.vocab_size:
        raise MismatchError(
            f"{path}: id {int(stream.max())} is not below the vocabulary size {header.vocab_size}"
        )
    if (np.diff(offsets) < 2).any():
        raise MismatchError(f"{path}: a document without BOS and EOS")
    if (stream[offsets[:-1]] != header.bos_id).any() or (stream[offsets[1:] - 1] != header.eos_id).any():
        raise MismatchError(
            f"{path}: a document does not start with BOS {header.bos_id} and end with EOS {header.eos_id}"
        )


class _Provenance:
    """The table of where documents came from, written as it grows."""

    def __init__(self, path: Path, extra: tuple[str, ...]) -> None:
        self._path, self._extra = path, extra
        self._temporary = path.with_name(f"{TEMPORARY}{path.name}")
        numbers = {"start": pa.int64(), "end": pa.int64()}
        fields = [(name, numbers.get(name, pa.string())) for name in (*_PROVENANCE, *extra)]
        self._schema = pa.schema(fields)
        self._rows: list[tuple[Any, ...]] = []
        with disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = pq.ParquetWriter(
                self._temporary, self._schema, compression="zstd", write_page_checksum=True
            )

    def add(self, documents: Sequence[Document]) -> None:
        for document in documents:
            fixed = [getattr(document, name) for name in _PROVENANCE]
            self._rows.append((*fixed, *(document.metadata.get(name, "") for name in self._extra)))
            # By number of rows, so that the bytes do not depend on how many come at a time.
            if len(self._rows) == _GROUP_ROWS:
                self._flush()

    def finish(self) -> None:
        self._flush()
        with disk_errors(self._path):
            self._writer.close()
            sync_directory(self._temporary)
            self._temporary.replace(self._path)
            sync_directory(self._path.parent)

    def close(self) -> None:
        # A table that nobody wants: whether its end still fits on the disk does not matter.
        with contextlib.suppress(OSError):
            self._writer.close()
        self._temporary.unlink(missing_ok=True)

    def _flush(self) -> None:
        columns = zip(*self._rows, strict=True) if self._rows else ([] for _ in self._schema)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, self._schema, strict=True)]
        with disk_errors(self._path):
            self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))
        self._rows.clear()


def _to_metadata(header: ShardHeader) -> dict[str, str]:
    return {
        "format": FORMAT,
        "domain": header.domain,
        "tokenizer_sha256": header.tokenizer_sha256,
        "vocab_size": str(header.vocab_size),
        "bos_id": str(header.bos_id),
        "eos_id": str(header.eos_id),
        "inputs": header.inputs,
    }


def _from_metadata(path: Path, metadata: dict[str, str]) -> ShardHeader:
    if metadata.get("format") not in READABLE:
        raise DamagedError(
            f"{path} has format {metadata.get('format')!r}, this danlu reads {', '.join(map(repr, READABLE))}; "
            f"build the tokens again"
        )
    try:
        return ShardHeader(
            domain=metadata["domain"],
            tokenizer_sha256=metadata["tokenizer_sha256"],
            vocab_size=int(metadata["vocab_size"]),
            bos_id=int(metadata["bos_id"]),
            eos_id=int(metadata["eos_id"]),
            inputs=metadata["inputs"],
            checksum=metadata["checksum"],
        )
    except (KeyError, ValueError) as error:
        raise DamagedError(f"{path}: its header is damaged ({error}); build the tokens again") from error
