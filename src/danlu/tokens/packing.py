"""How documents become samples of one length: best-fit decreasing, concatenate and cut, greedy in order, or not at all.

Guarantees: every token is in exactly one piece. `best_fit`: longest piece first, into the sample with the least room
that still fits, the earliest among equals (Ding et al. 2024, "Fewer Truncations Improve Language Modeling", section 3).
`greedy`: the documents in their order, each into the sample that is being filled, or where it does not fit into the
next (next fit, as in T5's packing): the order stays, the room left over does too. `none`: every piece has a sample of
its own. These three cut only documents longer than a sample, at multiples of its length. `chunk`: one stream of all
documents, cut where the samples end: no padding but at the end.
Costs: one sort of the pieces (best_fit), else linear; memory of the pieces, that is of documents and cuts, not tokens.
100M tokens in documents of 1,000 take about 0.02 seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from danlu.records import Ints

KINDS = ("best_fit", "chunk", "greedy", "none")


@dataclass(frozen=True, slots=True)
class Packing:
    """Pieces in the order of the samples: sample s holds pieces offsets[s]:offsets[s+1].

    Piece p is tokens [starts[p], starts[p] + lengths[p]) of document documents[p].
    """

    documents: Ints
    starts: Ints
    lengths: Ints
    offsets: Ints
    sequence_length: int

    @property
    def samples(self) -> int:
        """How many samples there are."""
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True)
class PackingStats:
    """What packing did: `lower_bound` is the fewest samples that could hold the tokens."""

    documents: int
    documents_cut: int
    pieces: int
    samples: int
    lower_bound: int
    tokens: int
    padding: int
    dropped: int

    @property
    def efficiency(self) -> float:
        """The share of positions that hold a token."""
        positions = self.tokens + self.padding
        return self.tokens / positions if positions else 0.0


def pack(lengths: Ints, sequence_length: int, kind: str) -> Packing:
    """Packs documents of the given lengths (0 allowed, then left out) into samples of `sequence_length`."""
    if kind == "chunk":
        return _chunk(lengths, sequence_length)
    documents, starts, pieces = _split(lengths, sequence_length)
    if kind == "best_fit":
        longest_first = _stable_order(sequence_length - pieces, sequence_length)
        bins = np.empty(len(pieces), np.int64)
        samples = _best_fit(pieces[longest_first], sequence_length, bins)
        # Pieces keep the order in which they were put into their sample.
        order = longest_first[_stable_order(bins, samples)]
        documents, starts, pieces = documents[order], starts[order], pieces[order]
        counts = np.bincount(bins, minlength=samples)
    elif kind == "greedy":
        counts = np.zeros(len(pieces), np.int64)
        counts = counts[: _next_fit(pieces, sequence_length, counts)]
    else:
        counts = np.ones(len(pieces), np.int64)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return Packing(documents, starts, pieces, offsets, sequence_length)


def packing_stats(packing: Packing, lengths: Ints) -> PackingStats:
    """Counts of a packing of documents of the given lengths; `dropped` must be 0."""
    tokens = int(packing.lengths.sum())
    counts = np.bincount(packing.documents, minlength=len(lengths)) if len(packing.documents) else np.zeros(1)
    return PackingStats(
        documents=int((lengths > 0).sum()),
        documents_cut=int((counts > 1).sum()),
        pieces=len(packing.documents),
        samples=packing.samples,
        lower_bound=-(-tokens // packing.sequence_length),
        tokens=tokens,
        padding=packing.samples * packing.sequence_length - tokens,
        dropped=int(lengths.sum()) - tokens,
    )


def _split(lengths: Ints, sequence_length: int) -> tuple[Ints, Ints, Ints]:
    """Documents cut at multiples of the sample length: (document, start, length) of each piece."""
    counts = -(-lengths // sequence_length)
    documents, number = _numbered(counts)
    starts = number * sequence_length
    return documents, starts, np.minimum(sequence_length, lengths[documents] - starts)


def _chunk(lengths: Ints, sequence_length: int) -> Packing:
    """All documents behind one another, cut every `sequence_length` tokens."""
    ends = np.cumsum(lengths)
    begins = ends - lengths
    total = int(ends[-1]) if len(ends) else 0
    sample = begins // sequence_length
    counts = np.where(lengths > 0, (ends - 1) // sequence_length - sample + 1, 0)
    documents, number = _numbered(counts)
    # A document's first piece begins where it does, the others where the samples do.
    at = np.maximum(begins[documents], (sample[documents] + number) * sequence_length)
    pieces = np.diff(np.append(at, total))
    samples = -(-total // sequence_length)
    offsets = np.searchsorted(at, np.arange(samples + 1) * sequence_length).astype(np.int64)
    return Packing(documents, at - begins[documents], pieces, offsets, sequence_length)


def _numbered(counts: Ints) -> tuple[Ints, Ints]:
    """Of each piece the document, and which of the document's pieces it is: [2, 0, 1] -> [0, 0, 2], [0, 1, 0]."""
    documents = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    first = np.cumsum(counts) - counts
    return documents, np.arange(len(documents), dtype=np.int64) - first[documents]


def _stable_order(keys: Ints, largest: int) -> Ints:
    """The stable order of keys from 0 to `largest`: of 16 bits they are sorted in linear time."""
    return np.argsort(keys.astype(np.min_scalar_type(largest)), kind="stable")


@njit(cache=True, nogil=True)
def _next_fit(pieces: Ints, length: int, counts: Ints) -> int:
    """How many pieces each sample takes, in their order; `counts` begins as zeros. Returns the number of samples."""
    samples, room = 0, 0
    for need in pieces:
        if need > room:
            samples += 1
            room = length
        counts[samples - 1] += 1
        room -= need
    return samples


@njit(cache=True, nogil=True)
def _best_fit(pieces: Ints, length: int, bins: Ints) -> int:
    """Writes the sample of each piece; `pieces` fall in length and are at most `length`. Returns how many samples.

    Samples with the same room wait in a first-in-first-out queue: heads[room], then following[sample] up to
    tails[room]. A binary tree over the rooms 0..length counts who waits, so that the least room that fits is found in
    2 log2(length) steps.
    """
    leaves = 1
    while leaves <= length:
        leaves *= 2
    waiting = np.zeros(2 * leaves, np.int64)
    heads, tails = np.zeros(length + 1, np.int64), np.zeros(length + 1, np.int64)
    following = np.zeros(len(pieces), np.int64)
    samples = 0
    for i in range(len(pieces)):
        room = _least_room(waiting, leaves, pieces[i])
        if room < 0:
            sample, room = samples, length
            samples += 1
        else:
            sample = heads[room]
            heads[room] = following[sample]
            _count(waiting, leaves + room, -1)
        bins[i] = sample
        room -= pieces[i]
        if room > 0:
            if waiting[leaves + room] == 0:
                heads[room] = sample
            else:
                following[tails[room]] = sample
            tails[room] = sample
            _count(waiting, leaves + room, 1)
    return samples


@njit(cache=True, nogil=True)
def _least_room(waiting: Ints, leaves: int, need: int) -> int:
    """The least room of at least `need` in which a sample waits, or -1."""
    node = leaves + need
    while waiting[node] == 0:
        while node & 1:  # a right child: nothing larger below its parent
            node >>= 1
            if node <= 1:
                return -1
        node += 1
    while node < leaves:
        node = 2 * node + (waiting[2 * node] == 0)
    return node - leaves


@njit(cache=True, nogil=True)
def _count(waiting: Ints, node: int, change: int) -> None:
    """Counts one sample more or less at a leaf and all above it."""
    while node > 0:
        waiting[node] += change
        node >>= 1
