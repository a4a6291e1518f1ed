"""What curating 1, 10 and 100 TB of text takes: shards, tasks, spill, memory of a task, passes, core-hours.

Arithmetic over the sizes of danlu's own records and the speeds that benchmarks/corpus.py measured, and two simulations
of what arithmetic cannot give. `range_loads` deals heavy-tailed clusters of copies out over the hash ranges, all copies
in one bucket of a band, the worst case: how unequal ranges are. `cluster_passes` grows clusters of a million documents,
each copy made of an earlier one, puts them through the bands, and counts the rounds of the clustering.

Cluster sizes follow a power law. Its exponent is heavier than those measured on small corpora (MEASURED); the share of
documents with copies is set so that as many go as FineWeb lost within its crawls, 36 to 20 trillion tokens (Penedo et
al. 2024, section 3.4). Guarantee: seeded, the same table every time; a test compares it with docs/corpus-at-scale.md.
Costs: some ten seconds.

Run:  python benchmarks/sizing.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from danlu.dedup.connected import EDGE, contract, distinct_edges, edges
from danlu.dedup.contract import suggest_ranges
from danlu.dedup.minhash import BAND, sketch_dtype
from danlu.dedup.pairs import EVIDENCE
from danlu.dedup.plan import DOCUMENT, number_range
from danlu.dedup.records import Records
from danlu.dedup.settings import MinHash

Longs = npt.NDArray[np.int64]

SEED = 5
TERABYTES = (1, 10, 100)
MEAN_DOCUMENT_BYTES = 3_000
SHARD_BYTES = 256_000_000
MEMORY_A_RECORD = 126
"""Bytes at the peak of a range's task for each record of a band: measured on a range of a million."""
WORKER_BYTES = 700e6
"""A worker with its libraries and the buffers of its records: the peak that benchmarks/corpus.py measured."""

EXPONENT = 2.5
REMOVED_SHARE = 0.44
LARGEST_SIZE = 10_000_000
MEASURED = (
    ("Debian documentation and prose, all languages", 22_198, 1_334, 705, 59),
    ("its English part", 11_745, 281, 169, 59),
)
"""Small corpora under the default MinHash: documents, clusters with copies, clusters of two, the largest cluster."""

SIMULATED_DOCUMENTS = 1_000_000
SIMULATED_RANGES = 64
EXACT_COPIES = 0.6
LEAST_SIMILARITY = 0.5
DRAWN_CLUSTERS = 1_000_000

FIRST_ROUND_MB_S = 5.0
"""Text a second and core: read, four rules with plain words, sign, carry; measured by benchmarks/corpus.py."""
LAST_ROUND_MB_S = 30.0
"""Read what was carried, write what stays; measured."""
RANGE_RECORDS_S = 1.0e6
"""Band records a second and core through match, verify and clusters; measured."""
CARRIED_BYTES = 0.33
"""On disk for a byte of text that is carried from one round to the next."""
READS_A_GROUP = 3
"""Small reads of a file of records for one group: the trailer, its place, its records."""


@dataclass(frozen=True)
class Model:
    """Clusters of copies: a share of the clusters has more than one document, of power-law size."""

    multiple_share: float
    exponent: float


def zeta_tail(exponent: float, first: int) -> float:
    """The sum of m^-exponent over m >= first, up to LARGEST_SIZE."""
    return float((np.arange(first, LARGEST_SIZE, dtype=np.float64) ** -exponent).sum())


def make_model(removed_share: float, exponent: float) -> Model:
    """The model in which deduplication removes that share of the documents."""
    extra = zeta_tail(exponent - 1, 2) / zeta_tail(exponent, 2) - 1.0
    copies = removed_share / (1.0 - removed_share)
    return Model(copies / extra, exponent)


def draw_sizes(model: Model, clusters: int, chance: np.random.Generator) -> Longs:
    """(clusters,) sizes."""
    sizes = np.arange(2, 100_000)
    weights = sizes.astype(np.float64) ** -model.exponent
    drawn = chance.choice(sizes, clusters, p=weights / weights.sum())
    return np.where(chance.random(clusters) < model.multiple_share, drawn, 1).astype(np.int64)


@dataclass(frozen=True)
class Loads:
    """Records of one band in its ranges."""

    mean: float
    largest: float
    largest_bucket: float


def range_loads(model: Model, documents: float, ranges: int, chance: np.random.Generator) -> Loads:
    """The loads where every cluster is one bucket: large clusters are drawn, small ones added by mean and variance."""
    clusters = documents * (1.0 - REMOVED_SHARE)
    multiple = clusters * model.multiple_share
    norm = zeta_tail(model.exponent, 2)
    # The size from which on the expected number of clusters is DRAWN_CLUSTERS; the tail of the sum is an integral.
    power = model.exponent - 1.0
    first = max(2.0, (multiple / (norm * power * DRAWN_CLUSTERS)) ** (1.0 / power))
    count = chance.poisson(multiple * first**-power / (norm * power))
    large = np.minimum(first * chance.random(count) ** (-1.0 / power), documents / 100)
    dealt = np.bincount(chance.integers(0, ranges, count), weights=large, minlength=ranges)
    sizes = np.arange(2, int(first) + 1, dtype=np.float64)
    square = clusters + multiple * float((sizes ** (2.0 - model.exponent)).sum()) / norm
    rest = (documents - large.sum()) / ranges
    loads = dealt + chance.normal(rest, np.sqrt(square / ranges), ranges)
    return Loads(documents / ranges, float(loads.max()), float(large.max()))


def grow_copies(sizes: Longs, chance: np.random.Generator) -> tuple[Longs, npt.NDArray[np.float64], Longs]:
    """For each document of clusters one after another: whose copy it is, its similarity to that, its depth."""
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    rank = np.arange(sizes.sum()) - starts
    parent = starts + (chance.random(len(rank)) * rank).astype(np.int64)
    similar = chance.uniform(LEAST_SIMILARITY, 1.0, len(rank))
    similar = np.where(chance.random(len(rank)) < EXACT_COPIES, 1.0, similar)
    depth = np.zeros(len(rank), np.int64)
    for place in np.argsort(rank, kind="stable")[len(sizes) :]:
        depth[place] = depth[parent[place]] + 1
    return parent, similar, depth


def bucket_pairs(sizes: Longs, chance: np.random.Generator, settings: MinHash) -> Records:
    """The pairs that equal bands of a million documents give, as the matching makes them; numbers are shuffled."""
    parent, similar, depth = grow_copies(sizes, chance)
    numbers = chance.permutation(len(parent)).astype(np.int64)
    found = []
    for _ in range(settings.bands):
        changed = chance.random(len(parent)) >= similar**settings.rows
        bucket = np.arange(len(parent))
        for level in range(1, int(depth.max()) + 1):
            copies = np.flatnonzero((depth == level) & ~changed)
            bucket[copies] = bucket[parent[copies]]
        best = np.full(len(parent), len(parent), np.int64)
        np.minimum.at(best, bucket, numbers)
        one = best[bucket]
        pair = one != numbers
        found.append(edges(one[pair], numbers[pair]))
    return distinct_edges(np.concatenate(found))


def lowest_neighbours(found: Records) -> Longs:
    """For each edge, in both directions and sorted by node: the lowest of its node and that node's neighbours."""
    node = found["node"]
    starts = np.flatnonzero(np.concatenate(([True], node[1:] != node[:-1])))
    lowest: Longs = np.repeat(found["other"][starts], np.diff(np.append(starts, len(node))))
    least: Longs = np.minimum(lowest, node)
    return least


def both_ways(node: Longs, other: Longs) -> Records:
    """Edges at both of their ends, each once."""
    apart = node != other
    node, other = node[apart], other[apart]
    return distinct_edges(edges(np.concatenate((node, other)), np.concatenate((other, node))))


def cluster_passes(pairs: Records, ranges: int) -> tuple[int, Records]:
    """Rounds of large-star and small-star until all is stars, from pairs contracted by range; and the edges then."""
    place = number_range(pairs["other"], ranges)
    parts = [contract(pairs[place == number]) for number in range(ranges)]
    found = np.concatenate(parts)
    found, rounds = both_ways(found["node"], found["other"]), 0
    while True:
        lowest = lowest_neighbours(found)
        alone = np.bincount(found["node"], minlength=1)[found["node"]] == 1
        if bool(((lowest == found["node"]) | alone).all()):
            return rounds, found
        rounds += 1
        higher = found["other"] > found["node"]
        moved = distinct_edges(edges(found["other"][higher], lowest[higher]))
        # Each node with its lower neighbours: they and it go to the lowest of them.
        starts = np.flatnonzero(np.concatenate(([True], moved["node"][1:] != moved["node"][:-1])))
        first = np.repeat(moved["other"][starts], np.diff(np.append(starts, len(moved))))
        found = both_ways(np.concatenate((first, first)), np.concatenate((moved["other"], moved["node"])))


@dataclass(frozen=True)
class Clustering:
    """What a simulated million documents says of any number of them."""

    rounds: int
    pairs_a_document: float
    edges_a_document: float


def simulate_clustering(model: Model, documents: int) -> Clustering:
    """Grows clusters of about that many documents and connects them."""
    chance = np.random.default_rng(SEED)
    sizes = draw_sizes(model, int(documents * (1.0 - REMOVED_SHARE)), chance)
    pairs = bucket_pairs(sizes, chance, MinHash())
    rounds, found = cluster_passes(pairs, SIMULATED_RANGES)
    total = int(sizes.sum())
    return Clustering(rounds, len(pairs) / total, len(found) / total)


def amount(value: float) -> str:
    """A number of bytes with its unit."""
    for unit in ("B", "kB", "MB", "GB", "TB", "PB"):
        if value < 1000 or unit == "PB":
            return f"{value:.3g} {unit}"
        value /= 1000
    raise AssertionError


def column(terabytes: int, model: Model, clustering: Clustering) -> dict[str, str]:
    """The figures of one size."""
    text = terabytes * 1e12
    settings, documents = MinHash(), text / MEAN_DOCUMENT_BYTES
    shards = math.ceil(text / SHARD_BYTES)
    ranges = suggest_ranges(settings, int(text))
    loads = range_loads(model, documents, ranges, np.random.default_rng(SEED))
    records = documents * settings.bands
    # Match, verify and choose once; a large-star stage ends the rounds.
    stages = 3 + 2 * clustering.rounds + 1
    reads = READS_A_GROUP * settings.bands * shards * ranges
    pairs = documents * clustering.pairs_a_document
    hours = (text / 1e6 / FIRST_ROUND_MB_S, text / 1e6 / LAST_ROUND_MB_S, records / RANGE_RECORDS_S)
    return {
        "documents": f"{documents:.3g}",
        "shards = tasks of a pass": f"{shards:,}",
        "hash ranges = tasks of a stage": f"{ranges:,}",
        "tasks in all": f"{3 * shards + stages * ranges:,}",
        "carried from pass to pass": amount(text * CARRIED_BYTES),
        "band records": amount(records * BAND.itemsize),
        "... of one band and range, mean": amount(loads.mean * BAND.itemsize),
        "... of one band and range, largest": amount(loads.largest * BAND.itemsize),
        "... largest bucket, documents": f"{loads.largest_bucket:.3g}",
        "sketches and tables": amount(documents * (sketch_dtype(settings).itemsize + DOCUMENT.itemsize)),
        "pairs and their evidence": amount(pairs * (EDGE.itemsize + 2 * EVIDENCE.itemsize)),
        "edges of a stage": amount(documents * clustering.edges_a_document * EDGE.itemsize),
        "rounds of the clustering": f"{clustering.rounds}",
        "small reads of the matching": f"{reads:.2g} of {amount(loads.mean / shards * BAND.itemsize)}",
        "document tables read to choose": amount(documents * DOCUMENT.itemsize * ranges),
        "memory of a range's task": amount(WORKER_BYTES + loads.largest * MEMORY_A_RECORD),
        "core-hours: first pass": f"{hours[0] / 3600:,.0f}",
        "core-hours: last pass": f"{hours[1] / 3600:,.0f}",
        "core-hours: matching and clusters": f"{hours[2] / 3600:,.0f}",
    }


def table() -> str:
    """The table in Markdown."""
    model = make_model(REMOVED_SHARE, EXPONENT)
    clustering = simulate_clustering(model, SIMULATED_DOCUMENTS)
    columns = [column(terabytes, model, clustering) for terabytes in TERABYTES]
    lines = [
        "| | " + " | ".join(f"{terabytes} TB" for terabytes in TERABYTES) + " |",
        "|---|" + "---:|" * len(columns),
    ]
    lines += [f"| {name} | " + " | ".join(found[name] for found in columns) + " |" for name in columns[0]]
    return "\n".join(lines)


def exponent_of(twos: int, multiple: int) -> float:
    """The exponent at which clusters of two are that share of all clusters with copies."""
    tried = np.arange(2.05, 6.0, 0.05)
    shares = np.array([2.0**-exponent / zeta_tail(exponent, 2) for exponent in tried])
    return float(tried[np.abs(shares - twos / multiple).argmin()])


def measured_table() -> str:
    """What the model says of small corpora, in Markdown: the largest cluster is the median of 101 draws."""
    lines = [
        "| corpus | documents | clusters with copies | exponent | largest cluster | drawn |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, documents, multiple, twos, largest in MEASURED:
        exponent, chance = exponent_of(twos, multiple), np.random.default_rng(SEED)
        model = Model(1.0, exponent)
        drawn = [int(draw_sizes(model, multiple, chance).max()) for _ in range(101)]
        lines.append(
            f"| {name} | {documents:,} | {multiple:,} | {exponent:.2f} | {largest} | {np.median(drawn):.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Prints both tables."""
    print(f"{table()}\n\n{measured_table()}")


if __name__ == "__main__":
    main()
