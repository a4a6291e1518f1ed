"""Candidate pairs from equal bands, and what the two documents have in common.

Decides: in a band every document is paired with the first of its bucket; where Jaccard is verified, also with the one
before it, so that a first one that shares the bucket by chance does not part the others. Buckets cost pairs in
proportion to their size, never its square. Similarity is exact where it is verified, else estimated from 8 bits of
each hash: standard deviation sqrt(s (1 - s) / hashes). Guarantee: each pair is judged once. Costs: memory for one band
of one range, then for the pairs of one range and `_BATCH_SHINGLES`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit

from danlu.dedup.connected import EDGE, contract, distinct_edges, edges, stars, write_edges
from danlu.dedup.contract import Floats, Longs
from danlu.dedup.minhash import BAND, SHINGLE, SPAN, sketch_dtype
from danlu.dedup.parameters import division
from danlu.dedup.plan import Keys, Plan, by_shard, number_range, read_plan, read_range, sign_file
from danlu.dedup.records import Records, read_group, read_rows, write_records
from danlu.dedup.repeats import group_equal
from danlu.dedup.settings import MinHash

EVIDENCE = np.dtype([("index", "<u4"), ("other", "<i8"), ("similarity", "<f4")])
PAIRS, EVIDENCE_OF = "pairs", "evidence"
_BATCH_PAIRS = 1 << 16
_BATCH_SHINGLES = 16 << 20


def match_bands(argument: dict[str, Any]) -> None:
    """One range of band keys: candidate pairs, by the range of their higher number."""
    plan, number = read_plan(argument["work"]), argument["range"]
    path = plan.file(PAIRS, number)
    if path.exists():
        return
    settings = minhash_settings(plan)
    pairs = np.empty(0, EDGE)
    for band in range(division(settings)[0]):
        records, numbers = read_range(plan, BAND, band * plan.ranges + number)
        equal = group_equal(records["key"])
        numbers = numbers[equal.order]
        found = [pairs, _pairs(plan, numbers[equal.starts][equal.group], numbers)]
        if settings.min_jaccard > 0.0:
            same = equal.group[1:] == equal.group[:-1]
            found.append(_pairs(plan, numbers[:-1][same], numbers[1:][same]))
        pairs = distinct_edges(np.concatenate(found))
    write_records(path, pairs, number_range(pairs["other"], plan.ranges), plan.ranges)


def verify_pairs(argument: dict[str, Any]) -> None:
    """One range of pairs: edges for the clusters, contracted, and the evidence of both documents by shard."""
    plan, number = read_plan(argument["work"]), argument["range"]
    path = plan.file(EVIDENCE_OF, number)
    if path.exists():
        return
    settings = minhash_settings(plan)
    parts = [read_group(plan.file(PAIRS, task), EDGE, number) for task in range(plan.ranges)]
    pairs = distinct_edges(np.concatenate(parts))
    similarity = (_jaccard if settings.min_jaccard > 0.0 else _estimate)(plan, pairs)
    kept = similarity >= settings.min_jaccard
    pairs, similarity = pairs[kept], similarity[kept]
    write_edges(plan, stars(0), number, contract(pairs))
    evidence = np.empty(2 * len(pairs), EVIDENCE)
    document = np.concatenate((pairs["node"], pairs["other"]))
    evidence["index"] = document & 0xFFFFFFFF
    evidence["other"] = np.concatenate((pairs["other"], pairs["node"]))
    evidence["similarity"] = np.tile(similarity, 2)
    slots = plan.slot(document >> 32)
    write_records(path, evidence[slots >= 0], slots[slots >= 0], len(plan.shards))


def minhash_settings(plan: Plan) -> MinHash:
    """The plan's settings, which are those of this step."""
    assert isinstance(plan.settings, MinHash)
    return plan.settings


def _pairs(plan: Plan, one: Longs, other: Longs) -> Records:
    """Different documents of which one at least is not of an earlier corpus; `node` is the lower number."""
    kept = one != other
    if plan.references:
        kept &= (plan.slot(one >> 32) >= 0) | (plan.slot(other >> 32) >= 0)
    return edges(np.minimum(one, other)[kept], np.maximum(one, other)[kept])


def _estimate(plan: Plan, pairs: Records) -> Floats:
    """Jaccard from sketches: of unequal hashes, one in 256 has equal bits."""
    dtype = sketch_dtype(minhash_settings(plan))
    numbers = np.unique(np.concatenate((pairs["node"], pairs["other"])))
    sketches = np.empty((len(numbers), dtype.itemsize), np.uint8)
    for shard, place in by_shard(numbers):
        rows = read_rows(sign_file(plan.work, shard, "sketches"), dtype, numbers[place] & 0xFFFFFFFF)
        sketches[place] = rows["hashes"]
    one, other = np.searchsorted(numbers, pairs["node"]), np.searchsorted(numbers, pairs["other"])
    equal = np.empty(len(pairs))
    for start in range(0, len(pairs), _BATCH_PAIRS):
        batch = slice(start, start + _BATCH_PAIRS)
        equal[batch] = (sketches[one[batch]] == sketches[other[batch]]).mean(axis=1)
    return np.clip((equal - 1 / 256) / (1 - 1 / 256), 0.0, 1.0).astype(np.float32)


def _jaccard(plan: Plan, pairs: Records) -> Floats:
    """Jaccard of the sets of shingles, a batch of pairs at a time."""
    numbers = np.unique(np.concatenate((pairs["node"], pairs["other"])))
    spans = np.empty(len(numbers), SPAN)
    for shard, place in by_shard(numbers):
        spans[place] = read_rows(sign_file(plan.work, shard, "spans"), SPAN, numbers[place] & 0xFFFFFFFF)
    one, other = np.searchsorted(numbers, pairs["node"]), np.searchsorted(numbers, pairs["other"])
    load = np.cumsum(spans["count"][one] + spans["count"][other]) // _BATCH_SHINGLES
    result = np.empty(len(pairs), np.float32)
    for batch in np.split(np.arange(len(pairs)), np.flatnonzero(np.diff(load)) + 1):
        used = np.unique(np.concatenate((one[batch], other[batch])))
        shingles, offsets = _read_shingles(plan, numbers[used], spans[used])
        low, high = np.searchsorted(used, one[batch]), np.searchsorted(used, other[batch])
        result[batch] = jaccard(shingles, offsets, low, high)
    return result


def _read_shingles(plan: Plan, numbers: Longs, spans: Records) -> tuple[Keys, Longs]:
    """The shingles of documents one after another, those of each sorted, and (n + 1,) where each begins."""
    offsets = np.concatenate(([0], np.cumsum(spans["count"])))
    shingles = np.empty(offsets[-1], np.uint64)
    for shard, place in by_shard(numbers):
        first, count = spans["first"][place], spans["count"][place]
        begin, end = offsets[place.start], offsets[place.stop]
        rows = np.arange(begin, end) + np.repeat(first - offsets[place], count)
        shingles[begin:end] = read_rows(sign_file(plan.work, shard, "shingles"), SHINGLE, rows)["hash"]
    for begin, end in pairwise(offsets.tolist()):
        shingles[begin:end].sort()
    return shingles, offsets


@njit(cache=True, nogil=True)
def jaccard(shingles: Keys, offsets: Longs, low: Longs, high: Longs) -> Floats:
    """(pairs,) of the sets in sorted shingles[offsets[i]:offsets[i + 1]], i = low and high of each pair."""
    result = np.empty(low.size, np.float32)
    for pair in range(low.size):
        one, one_end = offsets[low[pair]], offsets[low[pair] + 1]
        other, other_end = offsets[high[pair]], offsets[high[pair] + 1]
        union, common = 0, 0
        while one < one_end or other < other_end:
            if other == other_end or (one < one_end and shingles[one] < shingles[other]):
                least, in_both = shingles[one], False
            else:
                least, in_both = shingles[other], one < one_end and shingles[one] == shingles[other]
            union += 1
            common += in_both
            while one < one_end and shingles[one] == least:
                one += 1
            while other < other_end and shingles[other] == least:
                other += 1
        result[pair] = common / max(union, 1)
    return result
