"""The task that a build of shards is made of: one shard, from a part of the corpus or a range of a Megatron pair.

Decides when a shard is finished: the note beside it names the size and time of what it was made of and of itself, else,
for text, it is verified whole against its checksum. Guarantees: idempotent: the same bytes whenever and wherever it
runs; the note is written last. Costs: memory of a chunk of two million characters and its ids, or of one longer
document, given back after each shard; a finished shard costs three looks at the file system.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from danlu.errors import DamagedError, MissingError
from danlu.files import read_json, sha256_file, write_json
from danlu.read.store import read_part
from danlu.records import Document
from danlu.shards.join import PARTS
from danlu.shards.megatron_import import PairRange, copy_range, pair_files
from danlu.shards.shard import (
    ShardHeader,
    new_shard,
    provenance_path,
    read_header,
    verify_shard,
)
from danlu.tokenizer.codec import Codec

CHUNK_CHARACTERS = 2_000_000

Counts = dict[str, int]


def part_task(
    tokenizer: Path, shard: Path, part: Path, made_of: Sequence[Any], joined: bool
) -> dict[str, Any]:
    """The argument for a shard of a part; `made_of` changes with the part's text."""
    return {
        "tokenizer": str(tokenizer),
        "shard": str(shard),
        "part": str(part),
        "made_of": list(made_of),
        "extra": [PARTS] if joined else [],
    }


def pair_task(tokenizer: Path, shard: Path, wanted: PairRange) -> dict[str, Any]:
    """The argument for a shard of a range of a pair's documents."""
    stamps = [stamp(path) for path in pair_files(wanted.prefix)]
    return {
        "tokenizer": str(tokenizer),
        "shard": str(shard),
        "pair": [str(wanted.prefix), wanted.first, wanted.stop],
        "made_of": [wanted.prefix.name, wanted.first, wanted.stop, stamps],
        "bytes": wanted.bytes,
    }


def make_shard(argument: dict[str, Any]) -> None:
    """The task. `argument`: of `part_task` or `pair_task`."""
    path = Path(argument["shard"])
    tokenizer = Path(argument["tokenizer"])
    codec = _codec(tokenizer, tokenizer.stat().st_mtime_ns)
    counts: Counts = {}
    if "pair" in argument:
        prefix, first, stop = argument["pair"]
        wanted = PairRange(Path(prefix), first, stop, argument["bytes"])
        with new_shard(path, _header(path, codec, wanted.name)) as shard:
            counts = copy_range(wanted, codec, shard)
    else:
        part = Path(argument["part"])
        header = _header(
            path, codec, "".join([sha256_file(part), *(f"+{name}" for name in argument["extra"])])
        )
        if not _is_whole(path, header):
            _note_path(path).unlink(missing_ok=True)
            with new_shard(path, header, tuple(argument["extra"])) as shard:
                for chunk in chunks(read_part(part)):
                    shard.add(chunk, codec.encode_documents([document.text for document in chunk]))
    write_json(_note_path(path), _note(argument, counts))
    _give_back_memory()


def is_finished(argument: dict[str, Any]) -> bool:
    """Whether the note beside a shard says that nothing moved since it was made."""
    path = Path(argument["shard"])
    try:
        note = read_json(_note_path(path))
        return bool(note == _note(argument, note.get("counts")))
    except (MissingError, DamagedError, OSError):
        return False


def counts_of(shard: Path) -> Counts:
    """What a finished task counted."""
    counts: Counts = read_json(_note_path(shard))["counts"]
    return counts


def remove_shard(path: Path) -> None:
    """Removes a shard and what lies beside it."""
    path.unlink()
    provenance_path(path).unlink(missing_ok=True)
    _note_path(path).unlink(missing_ok=True)


def stamp(path: Path) -> list[int]:
    """Size and time of a file: what moves with its content."""
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]


def chunks(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Documents in lists of about two million characters: what one call of the encoder holds."""
    chunk: list[Document] = []
    characters = 0
    for document in documents:
        chunk.append(document)
        characters += len(document.text)
        if characters >= CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def _give_back_memory() -> None:
    """What a shard needed, to the system: else what the next one needs comes on top, in pieces that do not fit."""
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc alone
    if trim is not None:
        trim(0)


def _note(argument: dict[str, Any], counts: Any) -> dict[str, Any]:
    shard, tokenizer = Path(argument["shard"]), Path(argument["tokenizer"])
    return {
        "tokenizer": _sha256(tokenizer, tokenizer.stat().st_mtime_ns),
        "made_of": argument["made_of"],
        "files": [stamp(shard), stamp(provenance_path(shard))],
        "counts": counts,
    }


def _note_path(shard: Path) -> Path:
    """shard-00000.safetensors -> made-00000.json."""
    return shard.with_name(f"made-{shard.name.removeprefix('shard-').removesuffix('.safetensors')}.json")


def _header(path: Path, codec: Codec, inputs: str) -> ShardHeader:
    return ShardHeader(path.parent.name, codec.sha256, codec.vocab_size, codec.bos_id, codec.eos_id, inputs)


def _is_whole(path: Path, header: ShardHeader) -> bool:
    try:
        found = read_header(path)
        verify_shard(path)
    except (MissingError, DamagedError):
        return False
    return replace(found, checksum="") == replace(header, checksum="") and provenance_path(path).exists()


@lru_cache(maxsize=1)
def _codec(path: Path, changed_ns: int) -> Codec:  # noqa: ARG001  (another file in the same place is another one)
    return Codec.load(path)


@lru_cache(maxsize=1)
def _sha256(path: Path, changed_ns: int) -> str:  # noqa: ARG001
    return sha256_file(path)
