"""The packed index of a domain: which pieces of which documents make each sample, for one length and packing.

Decides: documents in their order are cut into groups of equal size (about 4M tokens, at least 64 of the longest
samples) and each group is packed alone, so that memory is bounded and groups can be shuffled as wholes; those of an
ordered domain are of 16 samples, within which its order is shuffled. Guarantees:
computed once, stored beside the shards with a checksum, rebuilt when a shard changed; shards are verified whenever
the index is built, so a shard that was changed on disk is named, not trained on. Costs: one packing of the domain;
32 bytes a piece on disk.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from danlu.errors import DamagedError, InputError, MissingError
from danlu.files import digest
from danlu.records import Ints
from danlu.rng import hash_text
from danlu.shards.documents import DomainDocuments
from danlu.shards.shard import FORMAT, verify_shard
from danlu.shards.tensor_file import open_tensors, verify_tensors, write_tensors
from danlu.tokens.packing import Packing, PackingStats, pack, packing_stats

GROUP_TOKENS = 4_194_304
GROUP_SAMPLES = 64
ORDERED_GROUP_SAMPLES = 16
"""Of a domain with an order, which holds from group to group."""


@dataclass(frozen=True, slots=True)
class Cutting:
    """How a domain becomes samples. `order_by` is the attribute that its documents are sorted by, "" for the hash."""

    sequence_length: int
    packing: str
    order_by: str = ""


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


@dataclass(frozen=True, slots=True)
class Pieces:
    """Ranges of tokens in the order in which they are packed: [starts, starts + lengths) of each document."""

    documents: Ints
    starts: Ints
    lengths: Ints


def whole_documents(lengths: Ints, ranks: Ints | None = None) -> Pieces:
    """Every document whole, in the order of `ranks` (document numbers) or of the numbers themselves."""
    documents = np.arange(len(lengths), dtype=np.int64) if ranks is None else ranks
    return Pieces(documents, np.zeros(len(documents), np.int64), lengths[documents])


def build_index(domain: str, pieces: Pieces, cutting: Cutting) -> DomainIndex:
    """Packs pieces group by group."""
    length, kind = cutting.sequence_length, cutting.packing
    bounds = group_bounds(pieces.lengths, length, ordered=bool(cutting.order_by))
    packings = [pack(pieces.lengths[a:b], length, kind) for a, b in itertools.pairwise(bounds)]
    packed = _joined(packings, bounds, length)
    group_offsets = np.concatenate([[0], np.cumsum([part.samples for part in packings])]).astype(np.int64)
    stats = packing_stats(packed, pieces.lengths)
    packing = replace(
        packed,
        documents=pieces.documents[packed.documents],
        starts=pieces.starts[packed.documents] + packed.starts,
    )
    return DomainIndex(domain, packing, group_offsets, stats)


def require_sample(domain: str, tokens: int, sequence_length: int) -> None:
    """Raises InputError where a domain does not fill one sample."""
    if tokens < sequence_length:
        raise InputError(
            f"domain {domain!r} has {tokens} training tokens in all, fewer than train.sequence_length = "
            f"{sequence_length}. Set train.sequence_length to at most {tokens}, or give the domain more text"
        )


def group_bounds(lengths: Ints, sequence_length: int, ordered: bool = False) -> Ints:
    """The first piece of each group, then the number of pieces: groups of about equal tokens, none empty."""
    total = int(lengths.sum())
    tokens = max(GROUP_TOKENS, GROUP_SAMPLES * sequence_length)
    groups = max(1, total // (ORDERED_GROUP_SAMPLES * sequence_length if ordered else tokens))
    starts = np.cumsum(lengths) - lengths
    targets = np.array([group * total // groups for group in range(groups)], dtype=np.int64)
    return np.unique(np.append(np.searchsorted(starts, targets), len(lengths))).astype(np.int64)


def load_index(
    directory: Path, documents: DomainDocuments, cutting: Cutting, ranks: Ints | None = None
) -> DomainIndex:
    """The stored index of a domain in the folder tokens/<split>, built first where it is missing, stale or damaged.

    `ranks`: the document numbers in the order of cutting.order_by. Raises InputError for less than one sample.
    """
    length, kind = cutting.sequence_length, cutting.packing
    if ranks is not None and len(ranks) != len(documents):
        raise ValueError(f"{len(ranks)} ranks for the {len(documents)} documents of {documents.domain!r}")
    require_sample(documents.domain, documents.tokens, length)
    order = f"-{digest([cutting.order_by])[:12]}" if cutting.order_by else ""
    path = directory / documents.domain / f"index-{length}-{kind}{order}.safetensors"
    state = _shard_state(documents, ranks)
    try:
        verify_tensors(path)
        arrays, metadata = open_tensors(path)
        if metadata.get("format") == FORMAT and metadata.get("shards") == state:
            packing = Packing(
                arrays["documents"], arrays["starts"], arrays["lengths"], arrays["offsets"], length
            )
            stats = packing_stats(packing, documents.lengths)
            return DomainIndex(documents.domain, packing, arrays["groups"], stats)
    except (MissingError, DamagedError, KeyError):
        pass  # an index is only a cache of the shards: it is built again below
    for shard in documents.shards:
        verify_shard(shard.path)
    index = build_index(documents.domain, whole_documents(documents.lengths, ranks), cutting)
    arrays = {name: getattr(index.packing, name) for name in _ARRAYS} | {"groups": index.group_offsets}
    write_tensors(path, arrays, {"format": FORMAT, "shards": state})
    return index


_ARRAYS = ("documents", "starts", "lengths", "offsets")


def _shard_state(documents: DomainDocuments, ranks: Ints | None) -> str:
    """Changes when any shard of the domain was touched, or its order is another one."""
    stats = [(shard.path.name, shard.path.stat()) for shard in documents.shards]
    order = [] if ranks is None else [hash_text(ranks.tobytes())]
    return digest(
        [documents.fingerprint, *order, *([name, stat.st_size, stat.st_mtime_ns] for name, stat in stats)]
    )


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
