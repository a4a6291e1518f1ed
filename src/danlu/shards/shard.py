"""One token shard: the ids of many documents of one domain in one file, with where each came from beside it.

Guarantees: every document starts with BOS and ends with EOS, every id is below the vocabulary size (checked on
write); a shard is whole or absent; the header names the tokenizer, so that no other one can be taken for it.
Costs: uint16 ids where the vocabulary allows, else uint32; opening reads the header, verifying reads everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from danlu.errors import DamagedError, MismatchError
from danlu.files import write_bytes
from danlu.records import Document, TokenShard
from danlu.rng import hash_text
from danlu.shards.tensor_file import open_tensors, verify_tensors, write_tensors
from danlu.tokenizer.codec import Codec

FORMAT = "danlu.tokens/1"
"""Raised with every change of what a shard holds or of the order in which samples are made from shards."""

_PROVENANCE = ("id", "source", "start", "end", "group")


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
    """Writes a shard and its provenance; `ids[i]` is document i with BOS and EOS.

    The provenance goes first and the shard last, so that a shard that exists is complete. A full disk is an error
    that leaves what was there.
    """
    lengths = np.array([len(tokens) for tokens in ids], dtype=np.int64)
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
    stream = np.concatenate(ids) if len(ids) else np.zeros(0, dtype=np.uint32)
    _check_stream(path, header, stream, offsets)
    arrays: dict[str, npt.NDArray[Any]] = {
        "ids": stream.astype(np.uint16 if header.vocab_size <= 1 << 16 else np.uint32),
        "offsets": offsets,
        "id_hashes": np.array([hash_text(document.id) for document in documents], dtype=np.uint64),
        "byte_counts": np.array([len(document.text.encode()) for document in documents], dtype=np.int64),
    }
    _write_provenance(provenance_path(path), documents)
    write_tensors(path, arrays, _to_metadata(header))


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
    """Columns id, source, start, end, group of a shard's documents, in its order."""
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


def _write_provenance(path: Path, documents: Sequence[Document]) -> None:
    columns = {name: [getattr(document, name) for document in documents] for name in _PROVENANCE}
    types = {"start": pa.int64(), "end": pa.int64()}
    table = pa.table(
        {name: pa.array(values, types.get(name, pa.string())) for name, values in columns.items()}
    )
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    write_bytes(path, sink.getvalue().to_pybytes())


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
    if metadata.get("format") != FORMAT:
        raise DamagedError(
            f"{path} has format {metadata.get('format')!r}, this danlu reads {FORMAT!r}; build the tokens again"
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
