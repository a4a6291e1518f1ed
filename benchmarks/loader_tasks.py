"""Batches for tokens.py: samples a second beside torch's DataLoader, and what one sample in no order costs.

Both loaders go over the same shards. torch's has the plain Dataset: all ids behind one another, read by memory map and
cut into rows, inputs and labels as int64 tensors, shuffled; in the process itself, and with two workers. danlu's rows
also have positions and the number of the document of every token, and its batches come through `prefetch`. A pass
goes over every sample once; the loaders take turns, the median of the rounds counts. Rates are by wall seconds, and by
seconds of the processor of all processes. Everything but the workers runs on one core.
Random access also has shards made by arithmetic, many groups of samples large, where a sample's group is not at hand.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

import numpy as np

import shard_tasks
from tokenizer_tasks import first_texts

sys.path.append(str(Path(__file__).parent / "peers"))

from clock import cpu_seconds

from danlu.mixture.stages import PlannedStage
from danlu.records import Document
from danlu.shards.build import build_tokens
from danlu.shards.documents import DomainDocuments, open_documents
from danlu.shards.shard import ShardHeader, new_shard
from danlu.tokenizer.codec import Codec
from danlu.tokens.batches import Batches, open_batches, prefetch
from danlu.tokens.packing import KINDS

DRAWN_VOCAB, DRAWN_BOS, DRAWN_EOS = 16_384, 0, 1
DRAWN_CHUNK = 4096
WORKERS = (0, 2)


def add_loader_arguments(parser: argparse.ArgumentParser) -> None:
    """Texts, how much of them, the shape of a batch."""
    _add_text_arguments(parser)
    parser.add_argument("--batch", type=int, default=16, help="samples in a batch")
    parser.add_argument("--rounds", type=int, default=3)


def add_access_arguments(parser: argparse.ArgumentParser) -> None:
    """Texts, how much of them, how many samples are asked for."""
    _add_text_arguments(parser)
    parser.add_argument("--asked", type=int, default=20_000, help="samples asked for, at random")
    parser.add_argument("--drawn-tokens", type=int, default=200_000_000)


def _add_text_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("texts", nargs="+", help="files or globs")
    parser.add_argument("--bytes", type=int, default=20_000_000)
    parser.add_argument("--vocab", type=int, default=16_384)
    parser.add_argument("--length", type=int, default=1024, help="tokens in a sample")


def compare_loaders(options: argparse.Namespace) -> None:
    """Prints the table of the loaders."""
    cores = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory() as folder:
        tokens, codec = build(options, Path(folder))
        documents = open_all(tokens, codec)
        print(f"{'':28}{'samples/s':>12}{'a processor s':>15}{'tokens/s':>14}")
        passes: dict[str, Callable[[], int]] = {}
        for packing in ("best_fit", "chunk"):
            batches = open_stage(documents, tokens, codec, packing, options.length, options.batch)
            steps = sum(index.stats.samples for index in indexes(batches)) // options.batch
            passes[f"danlu, {packing}"] = lambda batches=batches, steps=steps: count_rows(  # type: ignore[misc]
                batch.inputs for batch in prefetch(batches, 0, steps)
            )
        for workers in WORKERS:
            loader = plain_loader(documents, options.length, options.batch, workers)
            passes[f"torch, {workers} workers"] = lambda loader=loader: count_rows(  # type: ignore[misc]
                inputs for inputs, _ in loader
            )
        spent: dict[str, list[tuple[float, float, int]]] = {name: [] for name in passes}
        for _ in range(options.rounds):
            for name, work in passes.items():
                os.sched_setaffinity(0, cores if name == f"torch, {WORKERS[-1]} workers" else {min(cores)})
                spent[name].append(timed(work))
        os.sched_setaffinity(0, cores)
        for name, runs in spent.items():
            wall, cpu = (median(run[what] for run in runs) for what in (0, 1))
            rows = runs[0][2]
            print(f"{name:28}{rows / wall:12,.0f}{rows / cpu:15,.0f}{rows * options.length / wall:14,.0f}")


def timed(work: Callable[[], int]) -> tuple[float, float, int]:
    """Seconds of the wall and of the processor, and what the work returns."""
    wall, cpu = time.perf_counter(), cpu_seconds()
    rows = work()
    return time.perf_counter() - wall, cpu_seconds() - cpu, rows


def count_rows(batches: Iterable[Any]) -> int:
    """Goes through all batches."""
    return sum(len(batch) for batch in batches)


def plain_loader(documents: Mapping[str, DomainDocuments], length: int, batch: int, workers: int) -> Any:
    """torch's DataLoader over the plain Dataset."""
    import torch

    shards = [shard.ids for domain in documents.values() for shard in domain.shards]
    # Rows within a shard: reading over its end would only make the plain way slower.
    ends = np.cumsum([(len(ids) - 1) // length for ids in shards])

    class Rows(torch.utils.data.Dataset[tuple[torch.Tensor, torch.Tensor]]):
        def __len__(self) -> int:
            return int(ends[-1])

        def __getitem__(self, row: int) -> tuple[torch.Tensor, torch.Tensor]:
            shard = int(np.searchsorted(ends, row, side="right"))
            first = (row - (int(ends[shard - 1]) if shard else 0)) * length
            ids = torch.from_numpy(shards[shard][first : first + length + 1].astype(np.int64))
            return ids[:-1], ids[1:]

    return torch.utils.data.DataLoader(
        Rows(), batch, shuffle=True, drop_last=True, num_workers=workers, generator=torch.Generator()
    )


def measure_access(options: argparse.Namespace) -> None:
    """Prints microseconds of a sample at random numbers, of real text and of many groups of drawn documents."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(f"{'microseconds':28}{'of the wall':>40}{'of the processor':>20}")
    print(f"{'':28}{'samples':>10}{'groups':>8}{'median':>12}{'99th':>10}{'median':>10}{'99th':>10}")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        tokens, codec = build(options, place)
        for packing in KINDS:
            batches = open_stage(open_all(tokens, codec), tokens, codec, packing, options.length, 1)
            access_line(f"text, {packing}", batches, options.asked)
        drawn = SimpleNamespace(
            sha256="-", vocab_size=DRAWN_VOCAB, bos_id=DRAWN_BOS, eos_id=DRAWN_EOS, pad_id=2
        )
        write_drawn(place / "drawn" / "train" / "drawn", options.drawn_tokens)
        for packing in ("best_fit", "chunk"):
            documents = open_all(place / "drawn", drawn)
            batches = open_stage(documents, place / "drawn", drawn, packing, options.length, 1)
            access_line(f"drawn, {packing}", batches, options.asked)


def access_line(name: str, batches: Batches, asked: int) -> None:
    """Asks for samples, the first of them untimed."""
    found = indexes(batches)
    samples = sum(index.stats.samples for index in found)
    groups = sum(len(index.group_offsets) - 1 for index in found)
    numbers = np.random.default_rng(1).integers(0, samples, asked).tolist()
    for number in numbers[:100]:
        batches.sample(number)
    wall, cpu = np.empty(asked), np.empty(asked)
    for i, number in enumerate(numbers):
        begun, used = time.perf_counter_ns(), time.thread_time_ns()
        batches.sample(number)
        cpu[i], wall[i] = time.thread_time_ns() - used, time.perf_counter_ns() - begun
    columns = "".join(
        f"{np.percentile(spent, share) / 1000:10.1f}" for spent in (wall, cpu) for share in (50, 99)
    )
    print(f"{name:28}{samples:10,}{groups:8,}  {columns}", flush=True)


def build(options: argparse.Namespace, folder: Path) -> tuple[Path, Codec]:
    """The texts as shards of two domains, and their tokenizer."""
    texts = first_texts(options.texts, options.bytes)
    tokenizer = shard_tasks.train(texts, options.vocab, folder)
    shard_tasks.write_corpus(folder / "corpus", texts)
    made = build_tokens(tokenizer, folder / "corpus", folder / "tokens", 1)
    count = made.tokens("train")
    print(f"{len(texts):,} documents, {count:,} tokens; samples of {options.length:,}", flush=True)
    return folder / "tokens", Codec.load(tokenizer)


def open_all(tokens: Path, codec: Any) -> dict[str, DomainDocuments]:
    """Every domain of the training text."""
    return {place.name: open_documents(place, codec) for place in sorted((tokens / "train").iterdir())}


def open_stage(
    documents: Mapping[str, DomainDocuments],
    tokens: Path,
    codec: Any,
    packing: str,
    length: int,
    batch: int,
) -> Batches:
    """One stage without an end, each domain by its size."""
    total = sum(some.tokens for some in documents.values())
    weights = {name: some.tokens / total for name, some in documents.items()}
    stage = PlannedStage(1 << 40, length, packing, True, True, weights)
    return open_batches(documents, tokens / "train", codec, [stage], batch_tokens=batch * length, seed=1)


def indexes(batches: Batches) -> list[Any]:
    """The index of each domain."""
    return [leg.index for leg in batches.stages[0].legs.values()]


def write_drawn(directory: Path, tokens: int) -> None:
    """A shard of documents with drawn lengths, about 1,000 tokens each; what the ids are does not matter."""
    rng = np.random.default_rng(1)
    header = ShardHeader(directory.name, "-", DRAWN_VOCAB, DRAWN_BOS, DRAWN_EOS, "-")
    written = 0
    with new_shard(directory / "shard-00000.safetensors", header) as shard:
        while written < tokens:
            ids = [drawn_ids(int(n)) for n in rng.integers(2, 2001, DRAWN_CHUNK)]
            documents = [Document(f"{written}-{i}", "", "drawn", "drawn", "") for i in range(len(ids))]
            shard.add(documents, ids)
            written += sum(map(len, ids))


def drawn_ids(length: int) -> Any:
    """BOS, numbers, EOS."""
    ids = np.arange(1, length + 1, dtype=np.uint32)
    ids[0], ids[-1] = DRAWN_BOS, DRAWN_EOS
    return ids
