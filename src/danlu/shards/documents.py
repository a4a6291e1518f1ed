"""All documents of a domain as one numbered list, whatever shards they lie in.

Decides the order: by the 64-bit hash of the document id, so that it depends neither on files nor on a seed.
Guarantees: the same ids give the same order; the number of a document never moves while the shards stay; some of a
domain's documents (`select`) are in the same order, with numbers of their own.
Costs: opening sorts the hashes (a second for ten million documents); tokens are read through memory maps, which
take one file descriptor a shard: the limit of the process is raised for them.
"""

from __future__ import annotations

import copy
import resource
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from danlu.errors import MismatchError, MissingError
from danlu.files import digest
from danlu.records import Ints, TokenShard
from danlu.rng import UInt64s, hash_text
from danlu.shards.shard import ShardHeader, open_shard, read_header, read_provenance, require_tokenizer
from danlu.tokenizer.codec import Codec

SPLITS = ("train", "validation")
"""The folders of tokens/, and of what is exported of it."""


class DomainDocuments:
    """The documents of one domain and split, or some of them. Build with `open_documents`, then `select`."""

    def __init__(self, domain: str, shards: list[TokenShard], headers: list[ShardHeader]) -> None:
        self.domain = domain
        self.source_domain = domain
        """The domain of the shards, which is another one where these are some of its documents."""
        self.shards = shards
        self.fingerprint = digest([header.checksum for header in headers])
        """Changes with any token or document id of the domain."""
        counts = [len(shard.id_hashes) for shard in shards]
        hashes = np.concatenate([shard.id_hashes for shard in shards])
        order = np.argsort(hashes, kind="stable")
        self._shard_of: Ints = np.repeat(np.arange(len(shards)), counts)[order]
        self._row_of: Ints = np.concatenate([np.arange(count) for count in counts])[order]
        self._first: Ints = np.concatenate([shard.offsets[:-1] for shard in shards])[order]
        self.lengths: Ints = np.concatenate([np.diff(shard.offsets) for shard in shards])[order]
        """Tokens of each document with BOS and EOS, int64 (documents,)."""
        self.byte_counts: Ints = np.concatenate([shard.byte_counts for shard in shards])[order]
        """UTF-8 bytes of the text of each document."""
        self._table = lru_cache(maxsize=4)(self._read_table)

    def select(self, numbers: Ints, domain: str) -> DomainDocuments:
        """The documents of these numbers (ascending, each once) as a domain of its own, numbered from 0 in this order.

        Its fingerprint is of all documents and of what was chosen. Memory: 40 bytes a document.
        """
        if len(numbers) and not (
            numbers[0] >= 0 and numbers[-1] < len(self) and (np.diff(numbers) > 0).all()
        ):
            raise ValueError(f"numbers of documents of {self.domain!r} must ascend and lie below {len(self)}")
        chosen = copy.copy(self)
        chosen.domain = domain
        chosen.fingerprint = digest([self.fingerprint, domain, hash_text(numbers.astype("<i8").tobytes())])
        chosen._shard_of, chosen._row_of = self._shard_of[numbers], self._row_of[numbers]
        chosen._first = self._first[numbers]
        chosen.lengths, chosen.byte_counts = self.lengths[numbers], self.byte_counts[numbers]
        return chosen

    def id_hashes(self) -> UInt64s:
        """The 64-bit hash of each document's id, ascending, uint64 (documents,)."""
        ends = np.cumsum([len(shard.id_hashes) for shard in self.shards])
        starts = np.append(0, ends[:-1])
        hashes: UInt64s = np.concatenate([shard.id_hashes for shard in self.shards])
        return hashes[starts[self._shard_of] + self._row_of]

    def occurrences(self) -> Ints:
        """Of each document, how many before it in the shards have its hash: 0 but for texts that stand twice."""
        hashes: UInt64s = np.concatenate([shard.id_hashes for shard in self.shards])
        order = np.argsort(hashes, kind="stable")
        places = np.arange(len(order))
        new = np.append(True, hashes[order][1:] != hashes[order][:-1])
        before = np.empty(len(order), dtype=np.int64)
        before[order] = places - np.maximum.accumulate(np.where(new, places, 0))
        starts = np.append(0, np.cumsum([len(shard.id_hashes) for shard in self.shards])[:-1])
        found: Ints = before[starts[self._shard_of] + self._row_of]
        return found

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def tokens(self) -> int:
        """All tokens of the domain."""
        return int(self.lengths.sum())

    def tokens_of(self, number: int, start: int, stop: int) -> npt.NDArray[Any]:
        """Tokens [start, stop) of a document, uint16 or uint32; stop is cut at its end."""
        first = int(self._first[number])
        stop = min(stop, int(self.lengths[number]))
        return self.shards[int(self._shard_of[number])].ids[first + start : first + stop]

    def provenance(self, number: int) -> dict[str, str | int]:
        """Where a document came from: id, source, start, end (bytes), group."""
        table = self._table(int(self._shard_of[number]))
        row: dict[str, str | int] = table.slice(int(self._row_of[number]), 1).to_pylist()[0]
        return row

    def _read_table(self, shard: int) -> pa.Table:
        path = self.shards[shard].path
        table = read_provenance(path)
        if table.num_rows != len(self.shards[shard].id_hashes):
            raise MismatchError(
                f"the provenance beside {path} is of another shard; remove both and build again"
            )
        return table


def list_shards(directory: Path) -> list[Path]:
    """The shards of tokens/<split>/<domain>, in order."""
    return sorted(directory.glob("shard-*.safetensors"))


def list_token_domains(tokens: Path, split: str) -> list[str]:
    """The domains that have shards in a split, sorted."""
    return sorted({path.parent.name for path in (tokens / split).glob("*/shard-*.safetensors")})


def open_documents(directory: Path, codec: Codec | None = None) -> DomainDocuments:
    """Opens tokens/<split>/<domain>. With the run's tokenizer, shards of another tokenizer raise MismatchError."""
    paths = list_shards(directory)
    if not paths:
        raise MissingError(f"{directory} holds no shard-*.safetensors; build the tokens first")
    _allow_files(len(paths))
    headers = [read_header(path) for path in paths]
    for path, header in zip(paths, headers, strict=True):
        if header.domain != directory.name:
            raise MismatchError(f"{path} is a shard of domain {header.domain!r}, not of {directory.name!r}")
        if codec is not None:
            require_tokenizer(path, header, codec)
    return DomainDocuments(directory.name, [open_shard(path) for path in paths], headers)


def _allow_files(more: int) -> None:
    """Lets the process hold more files open, as far as it may: 1,024, the usual limit, are too few for many shards."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY not in (soft, hard):
        more = min(more, hard - soft)
    if soft != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft + more, hard))
