"""The packed index of a domain: which pieces of which documents make each sample, for one length and packing.

Decides: documents in their order are cut into groups of equal size (about 4M tokens, at least 64 of the longest
samples) and each group is packed alone, so that memory is bounded and groups can be shuffled as wholes. Guarantees:
computed once, stored beside the shards with a checksum, rebuilt when a shard changed; shards are verified whenever
the index is built, so a shard that was changed on disk is named, not trained on. Costs: one packing of the domain;
32 bytes a piece on disk.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from danlu.errors import DamagedError, InputError, MissingError
from danlu.files import digest
from danlu.records import Ints
from danlu.shards.documents import DomainDocuments, list_token_domains, open_documents
from danlu.shards.shard import FORMAT, verify_shard
from danlu.shards.tensor_file import open_tensors, verify_tensors, write_tensors
from danlu.tokens.packing import Packing, PackingStats, pack, packing_stats

GROUP_TOKENS = 4_194_304
GROUP_SAMPLES = 64


@dataclass(frozen=True, slots=True)
class DomainIndex:
    """The packing of a whole domain. Group g holds samples group_offsets[g]:group_offsets[g+1]."""

    domain: str
    packing: Packing
    group_offsets: Ints
    stats: PackingStats

    @property
    def mean_filled(self) -> float:
        """Mean number of tokens in a sample."""
        return self.stats.tokens / self.packing.samples


def build_index(domain: str, lengths: Ints, sequence_length: int, kind: str) -> DomainIndex:
    """Packs documents of the given lengths group by group. Raises InputError where they do not fill one sample."""
    total = int(lengths.sum())
    if total < sequence_length:
        raise InputError(
            f"domain {domain!r} has {total} training tokens in all, fewer than train.sequence_length = "
            f"{sequence_length}. Set train.sequence_length to at most {total}, or give the domain more text"
        )
    bounds = group_bounds(lengths, sequence_length)
    packings = [pack(lengths[a:b], sequence_length, kind) for a, b in itertools.pairwise(bounds)]
    packing = _joined(packings, bounds, sequence_length)
    group_offsets = np.concatenate([[0], np.cumsum([part.samples for part in packings])]).astype(np.int64)
    return DomainIndex(domain, packing, group_offsets, packing_stats(packing, lengths))


def group_bounds(lengths: Ints, sequence_length: int) -> Ints:
    """The first document of each group, then the number of documents: groups of about equal tokens, none empty."""
    total = int(lengths.sum())
    groups = max(1, total // max(GROUP_TOKENS, GROUP_SAMPLES * sequence_length))
    starts = np.cumsum(lengths) - lengths
    targets = np.array([group * total // groups for group in range(groups)], dtype=np.int64)
    return np.unique(np.append(np.searchsorted(starts, targets), len(lengths))).astype(np.int64)


def load_index(directory: Path, documents: DomainDocuments, sequence_length: int, kind: str) -> DomainIndex:
    """The stored index of tokens/<split>/<domain>, built first where it is missing, stale or damaged."""
    path = directory / f"index-{sequence_length}-{kind}.safetensors"
    state = _shard_state(documents)
    try:
        verify_tensors(path)
        arrays, metadata = open_tensors(path)
        if metadata.get("format") == FORMAT and metadata.get("shards") == state:
            packing = Packing(
                arrays["documents"], arrays["starts"], arrays["lengths"], arrays["offsets"], sequence_length
            )
            stats = packing_stats(packing, documents.lengths)
            return DomainIndex(documents.domain, packing, arrays["groups"], stats)
    except (MissingError, DamagedError, KeyError):
        pass  # an index is only a cache of the shards: it is built again below
    for shard in documents.shards:
        verify_shard(shard.path)
    index = build_index(documents.domain, documents.lengths, sequence_length, kind)
    arrays = {name: getattr(index.packing, name) for name in _ARRAYS} | {"groups": index.group_offsets}
    write_tensors(path, arrays, {"format": FORMAT, "shards": state})
    return index


def describe_packing(tokens: Path, sequence_length: int, kind: str) -> str:
    """How the training text of each domain fills its samples, for the terminal; the indexes are built if need be."""
    lines = []
    for domain in list_token_domains(tokens, "train"):
        directory = tokens / "train" / domain
        stats = load_index(directory, open_documents(directory), sequence_length, kind).stats
        lines.append(
            f"  {domain}: {stats.samples:,} samples of {sequence_length:,} tokens by {kind}, {stats.efficiency:.2%} "
            f"filled ({stats.padding:,} tokens of padding; {stats.lower_bound:,} samples at least), "
            f"{stats.documents_cut:,} of {stats.documents:,} documents cut, {stats.dropped:,} tokens dropped"
        )
    return "\n".join(lines)


_ARRAYS = ("documents", "starts", "lengths", "offsets")


def _shard_state(documents: DomainDocuments) -> str:
    """Changes when any shard of the domain was touched."""
    stats = [(shard.path.name, shard.path.stat()) for shard in documents.shards]
    return digest([documents.fingerprint, *([name, stat.st_size, stat.st_mtime_ns] for name, stat in stats)])


def _joined(packings: list[Packing], bounds: Ints, sequence_length: int) -> Packing:
    pieces = np.concatenate([[0], np.cumsum([len(part.documents) for part in packings])])
    return Packing(
        documents=np.concatenate([part.documents + bounds[g] for g, part in enumerate(packings)]),
        starts=np.concatenate([part.starts for part in packings]),
        lengths=np.concatenate([part.lengths for part in packings]),
        offsets=np.concatenate(
            [[0], *(part.offsets[1:] + pieces[g] for g, part in enumerate(packings))]
        ).astype(np.int64),
        sequence_length=sequence_length,
    )
