"""How fast and how tightly documents are packed into samples: every packing, beside TRL's; and Megatron's pairs.

Documents have drawn lengths; each packing is timed once it is compiled, the best of three passes on one core. The
column "at least" has the fewest samples that hold the tokens, "cut" the share of documents in several pieces. Memory is
the most that packing holds beside the lengths, by document: it grows with the pieces, that is documents and cuts.
TRL's `bfd_split` copies the ids of all documents where danlu only writes the index, so a third column has danlu's
with the same copy; the two must fill their samples alike. With a peer, a pair of danlu's is also opened by
megatron-core: the documents must be the same, and the bytes those that its own builder writes. Where one of these
fails, the exit code is 1.

Run:  python benchmarks/tokens.py packing [--tokens 100000000] [--length 4096] [--trl PYTHON_OF_TRL]
        [--megatron PYTHON_OF_MEGATRON_CORE]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from danlu.records import Ints
from danlu.shards.megatron import beside, write_pair
from danlu.tokens.packing import KINDS, Packing, pack, packing_stats

PEERS = Path(__file__).parent / "peers"
PASSES = 3

Draw = Callable[[np.random.Generator, int], Ints]
DOCUMENTS: dict[str, tuple[float, Draw]] = {
    "about 1,000 tokens, uniform": (1001, lambda rng, count: rng.integers(2, 2001, count)),
    "median 600, log-normal": (993, lambda rng, count: rng.lognormal(6.4, 1.0, count).astype(np.int64) + 2),
    "about 100 tokens, uniform": (101, lambda rng, count: rng.integers(2, 201, count)),
    "about 10,000 tokens, uniform": (10001, lambda rng, count: rng.integers(2, 20001, count)),
}
"""Mean length and how lengths are drawn."""


def best_seconds(work: Callable[[], object]) -> float:
    """The shortest of some passes."""
    spent = []
    for _ in range(PASSES):
        start = time.perf_counter()
        work()
        spent.append(time.perf_counter() - start)
    return min(spent)


def peak_bytes(lengths: Ints, length: int, kind: str) -> int:
    """The most that one packing allocates, its result included."""
    tracemalloc.start()
    pack(lengths, length, kind)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def copy_ids(packing: Packing, begins: Ints, ids: Ints) -> int:
    """Writes the ids of all samples behind one another, as TRL does; returns how many."""
    starts = (begins[packing.documents] + packing.starts).tolist()
    pieces = [ids[a : a + n] for a, n in zip(starts, packing.lengths.tolist(), strict=True)]
    return len(np.concatenate(pieces))


def kind_lines(name: str, lengths: Ints, length: int) -> None:
    """One table: every packing of documents of these lengths."""
    tokens = int(lengths.sum())
    print(f"\n{name}: {len(lengths):,} documents, {tokens:,} tokens, samples of {length:,}")
    heads = f"{'seconds':>9}{'G tokens/s':>12}{'samples':>11}{'at least':>11}{'filled':>9}{'cut':>8}{'dropped':>9}"
    print(f"{'':10}{heads}{'bytes/document':>16}")
    for kind in KINDS:
        seconds = best_seconds(lambda kind=kind: pack(lengths, length, kind))  # type: ignore[misc]
        stats = packing_stats(pack(lengths, length, kind), lengths)
        share = peak_bytes(lengths, length, kind) / len(lengths)
        print(
            f"{kind:10}{seconds:9.4f}{tokens / seconds / 1e9:12.2f}{stats.samples:11,}{stats.lower_bound:11,}"
            f"{stats.efficiency:9.2%}{stats.documents_cut / stats.documents:8.2%}"
            f"{stats.dropped:9}{share:16.0f}"
        )


def peer_result(python: str, script: str, *arguments: str) -> dict[str, Any]:
    """What a peer's script printed last."""
    command = [python, str(PEERS / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def beside_trl(python: str, name: str, lengths: Ints, length: int) -> bool:
    """Prints both speeds; whether both fill their samples alike."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lengths.npy"
        np.save(path, lengths, allow_pickle=False)
        theirs = peer_result(python, "trl_packing.py", str(path), str(length))
    tokens, begins = int(lengths.sum()), np.cumsum(lengths) - lengths
    ids = np.arange(tokens, dtype=np.int32)
    packing = pack(lengths, length, "best_fit")
    filled = np.bincount(np.add.reduceat(packing.lengths, packing.offsets[:-1]), minlength=length + 1)
    same = filled.tolist() == theirs["filled"]
    rates = [
        tokens / theirs["wall_s"],
        tokens / best_seconds(lambda: copy_ids(pack(lengths, length, "best_fit"), begins, ids)),
        tokens / best_seconds(lambda: pack(lengths, length, "best_fit")),
    ]
    print(
        f"{name:32}{tokens / 1e6:8.0f}" + "".join(f"{rate / 1e6:14,.1f}" for rate in rates) + f"{same!s:>10}"
    )
    return same


def beside_megatron(python: str, vocab_size: int) -> bool:
    """Whether megatron-core reads a pair as it was written, and writes the same bytes."""
    rng = np.random.default_rng(vocab_size)
    lengths = rng.integers(2, 400, 1000)
    ids = rng.integers(0, vocab_size, int(lengths.sum())).astype(np.uint32)
    ends = np.cumsum(lengths)
    wanted = [
        sha256(ids[end - n : end].astype("<i8").tobytes()).hexdigest()
        for n, end in zip(lengths, ends, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        prefix = Path(folder) / "ours"
        write_pair(prefix, vocab_size, [(ids, lengths)])
        theirs = peer_result(python, "megatron_pair.py", str(prefix), f"{folder}/theirs", str(vocab_size))
        bytes_same = all(
            sha256(beside(prefix, end).read_bytes()).hexdigest() == theirs[end] for end in ("bin", "idx")
        )
    documents_same = wanted == theirs["documents"]
    print(
        f"{theirs['package']}, vocabulary {vocab_size:,}: documents the same {documents_same}, bytes {bytes_same}"
    )
    return documents_same and bytes_same


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How many tokens in samples of which length, and the peers."""
    parser.add_argument("--tokens", type=int, default=100_000_000)
    parser.add_argument("--length", type=int, default=4096)
    parser.add_argument("--trl", help="the Python that has trl and datasets")
    parser.add_argument("--trl-tokens", type=int, default=20_000_000)
    parser.add_argument("--megatron", help="the Python that has megatron-core")


def measure(options: argparse.Namespace) -> None:
    """Prints the tables; exit code 1 where a peer disagrees."""
    sets = {
        name: draw(np.random.default_rng(1), int(options.tokens / mean))
        for name, (mean, draw) in DOCUMENTS.items()
    }
    start = time.perf_counter()
    for kind in KINDS:
        pack(np.array([3, 9]), 4, kind)
    print(f"compiled or loaded from the cache in {time.perf_counter() - start:.1f} s")
    for name, lengths in sets.items():
        kind_lines(name, lengths, options.length)
    agreed = True
    if options.trl:
        print(
            f"\n{'':32}{'M tokens':>8}{'TRL':>14}{'danlu, copied':>14}{'danlu':>14}{'same':>10}   M tokens/s"
        )
        for name, (mean, draw) in DOCUMENTS.items():
            lengths = draw(np.random.default_rng(2), int(options.trl_tokens / mean))
            agreed &= beside_trl(options.trl, name, lengths, options.length)
    if options.megatron:
        print()
        for vocab_size in (300, 65_499, 65_500, 200_000):
            agreed &= beside_megatron(options.megatron, vocab_size)
    sys.exit(not agreed)
