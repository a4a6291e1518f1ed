"""A Megatron pair as the shards of a domain: the way of ids that another pipeline made.

Decides: a document without BOS or EOS is given it, an empty one is left out, both counted; an id that the tokenizer
does not have is refused. A pair of danlu's own is refused with another tokenizer, and its documents keep their names,
sources and sizes; others are named by their place in the .bin, and their size is that of their decoded text. Costs: the
index is read whole once, in pieces, when the ranges are listed, then each range's part of it; a copy of the ids, range
by range; decoding for pairs of others. The format itself is in megatron.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from danlu.errors import DamagedError, InputError
from danlu.files import digest, read_json
from danlu.log import say
from danlu.records import Document
from danlu.shards.megatron import (
    BYTES,
    CARD,
    FORMAT,
    NAMES,
    Card,
    Pair,
    beside,
    check_documents,
    map_pair,
    open_pair,
)
from danlu.shards.shard import ShardHeader, ShardWriter, require_tokenizer
from danlu.tokenizer.codec import Codec

SHARD_TOKENS = 1 << 24
_CHUNK_TOKENS = 1 << 20
_BLOCK_DOCUMENTS = 1 << 18


@dataclass(frozen=True, slots=True)
class PairRange:
    """Documents [first, stop) of a pair, named by its path without .bin and .idx."""

    prefix: Path
    first: int
    stop: int
    bytes: int
    """Of its ids in the .bin."""

    @property
    def name(self) -> str:
        """What a shard calls the thing that it was made of."""
        return digest([self.prefix.name, self.first, self.stop])


def pair_files(prefix: Path) -> list[Path]:
    """The files that a pair consists of: .bin and .idx, and those that danlu writes beside them where they are."""
    there = [path for ending in (CARD, NAMES) if (path := beside(prefix, ending)).is_file()]
    return [beside(prefix, "bin"), beside(prefix, "idx"), *there]


def list_ranges(prefix: Path) -> list[PairRange]:
    """A pair cut into shards of about 16 million tokens. Raises MissingError and DamagedError, naming the file."""
    pair = open_pair(prefix)
    cuts, tokens = {0: 0}, 0  # document -> ids before it
    for first in range(0, len(pair), _BLOCK_DOCUMENTS):
        ends = tokens + pair.ends(first, min(first + _BLOCK_DOCUMENTS, len(pair)))
        tokens = int(ends[-1])
        marks = np.arange(-(-int(ends[0]) // SHARD_TOKENS) * SHARD_TOKENS, tokens, SHARD_TOKENS)
        places = np.searchsorted(ends, marks, side="right") - 1
        cuts.update(zip((first + places).tolist(), ends[places].tolist(), strict=True))
    if tokens == 0:
        raise InputError(
            f"{beside(prefix, 'idx')} holds no document with text; take it out of tokens.megatron"
        )
    if len(pair.ids) != tokens:
        say(
            f"  warning: {beside(prefix, 'bin')} holds {len(pair.ids):,} ids and its index speaks of {tokens:,}; "
            f"the rest is not read. If both were not written together, copy them again"
        )
    cuts[len(pair)] = tokens
    return [
        PairRange(prefix, first, stop, (after - before) * pair.ids.itemsize)
        for (first, before), (stop, after) in itertools.pairwise(cuts.items())
    ]


def copy_range(wanted: PairRange, codec: Codec, shard: ShardWriter) -> dict[str, int]:
    """Adds the documents of a range to a shard; how many were given BOS, how many EOS, how many were empty."""
    pair = map_pair(wanted.prefix)
    if wanted.stop > len(pair):
        raise DamagedError(
            f"{beside(pair.prefix, 'idx')} changed while it was read; type the same command again"
        )
    check_documents(pair, wanted.first, wanted.stop)
    counts = dict.fromkeys(("bos_added", "eos_added", "empty"), 0)
    rows = _read_names(pair, codec, wanted)
    for numbers in _chunks(pair, wanted):
        documents, ids, sizes = [], [], []
        for number in numbers:
            whole = _with_ends(pair, codec, number, counts)
            if whole is None:
                continue
            row = rows[number - wanted.first] if rows else None
            size = row.pop(BYTES, None) if row else None
            # Names and sizes come from the export; of others' pairs, from the ids themselves.
            sizes.append(len(codec.decode(whole.tolist()).encode()) if size is None else size)
            documents.append(Document(text="", domain="", **(row or _place(pair, number))))
            ids.append(whole)
        shard.add(documents, ids, sizes)
    return counts


def _chunks(pair: Pair, wanted: PairRange) -> list[range]:
    """The range in pieces of about a million tokens, or one longer document."""
    ends = pair.ends(wanted.first, wanted.stop)
    cuts = [0]
    while cuts[-1] < len(ends) - 1:
        full = int(np.searchsorted(ends, ends[cuts[-1]] + _CHUNK_TOKENS))
        cuts.append(min(full, len(ends) - 1))
    return [range(wanted.first + first, wanted.first + stop) for first, stop in itertools.pairwise(cuts)]


def _with_ends(
    pair: Pair, codec: Codec, number: int, counts: dict[str, int]
) -> npt.NDArray[np.uint32] | None:
    """A document with BOS and EOS; None where it is empty."""
    ids = pair.document(number).astype(np.int64)
    if len(ids) == 0:
        counts["empty"] += 1
        return None
    if ids.min() < 0 or ids.max() >= codec.vocab_size:
        wrong = int(ids.max() if ids.min() >= 0 else ids.min())
        raise InputError(
            f"{beside(pair.prefix, 'bin')}: document {number} has the id {wrong}, which the run's tokenizer of "
            f"{codec.vocab_size} tokens does not have; give the run the tokenizer that wrote the pair"
        )
    bos = bool(ids[0] != codec.bos_id)
    eos = bool(ids[-1] != codec.eos_id or len(ids) + bos < 2)
    counts["bos_added"] += bos
    counts["eos_added"] += eos
    return np.concatenate([[codec.bos_id] * bos, ids, [codec.eos_id] * eos]).astype(np.uint32)


def _read_names(pair: Pair, codec: Codec, wanted: PairRange) -> list[dict[str, Any]] | None:
    """The names of the documents of a pair that danlu wrote, with this tokenizer; None of another's pair."""
    path = beside(pair.prefix, CARD)
    if not path.exists():
        return None
    value = read_json(path)
    try:
        card = Card(**value)
        with pq.ParquetFile(beside(pair.prefix, NAMES), page_checksum_verification=True) as file:
            count = file.metadata.num_rows
            names = _rows(file, wanted)
    except (TypeError, OSError, pa.ArrowException) as error:
        raise DamagedError(f"{path} is damaged ({error}); export the tokens again") from error
    if card.format != FORMAT:
        raise DamagedError(f"{path} has format {card.format!r}, this danlu reads {FORMAT!r}")
    header = ShardHeader(card.domain, card.tokenizer_sha256, card.vocab_size, card.bos_id, card.eos_id, "")
    require_tokenizer(path, header, codec)
    if not count == card.documents == len(pair):
        raise DamagedError(f"{path} and its pair are of different exports; export the tokens again")
    return [{key: row[key] for key in (*_NAMED, BYTES) if key in row} for row in names]


_NAMED: Sequence[str] = ("id", "source", "start", "end", "group")


def _rows(file: pq.ParquetFile, wanted: PairRange) -> list[dict[str, Any]]:
    """Rows [first, stop) of a table, from the groups of rows that hold them alone."""
    ends = list(itertools.accumulate(file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)))
    firsts = [0, *ends[:-1]]
    groups = [n for n, end in enumerate(ends) if firsts[n] < wanted.stop and end > wanted.first]
    if not groups:
        return []
    table = file.read_row_groups(groups).slice(wanted.first - firsts[groups[0]], wanted.stop - wanted.first)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def _place(pair: Pair, number: int) -> dict[str, Any]:
    """Where a document lies, in bytes of the .bin."""
    name, size = beside(pair.prefix, "bin").name, pair.ids.itemsize
    first, last = int(pair.bounds[number]), int(pair.bounds[number + 1]) - 1
    start, end = int(pair.pointers[first]), int(pair.pointers[last]) + int(pair.lengths[last]) * size
    return {"id": f"{name}:{number}", "source": name, "start": start, "end": end, "group": f"{name}:{number}"}
