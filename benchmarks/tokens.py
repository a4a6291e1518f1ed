"""From text to batches, measured part by part beside other packages; each part is a command of its own.

train: tokenizers of every kind, trained and used by danlu and by `tokenizers`, `tiktoken` and `sentencepiece` directly.
memory: the peak of a process that trains a byte-level BPE on Chinese in unbroken lines.
shards: building token shards, with one worker and with two, and their memory.
packing: documents into samples, beside TRL; and pairs of files beside Megatron.
loader: batches, beside torch's DataLoader over the same shards.
access: what one sample costs that is asked for in no order.

Texts are files in any format that a source reads. Each part prints the machine, and what two pinned busy loops do
beside one: less than 2 means that the cores were shared or busy, and that the rates are low by as much.

Run:  python benchmarks/tokens.py train bench20.jsonl.gz [--bytes 20000000] [--kinds byte_bpe char]
      python benchmarks/tokens.py memory chinese.txt ... [--bytes 200000000]
      python benchmarks/tokens.py shards bench20.jsonl.gz [--bytes 20000000]
      python benchmarks/tokens.py packing [--trl PYTHON_OF_TRL] [--megatron PYTHON_OF_MEGATRON_CORE]
      python benchmarks/tokens.py loader bench20.jsonl.gz [--length 1024] [--batch 16]
      python benchmarks/tokens.py access bench20.jsonl.gz [--asked 20000] [--drawn-tokens 200000000]
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import NamedTuple

import loader_tasks
import packing
import shard_tasks
import tokenizer_tasks
from machine import busy_loop_gain, machine


class Part(NamedTuple):
    """A command: what it needs to be told, and what it does with it."""

    add_arguments: Callable[[argparse.ArgumentParser], None]
    work: Callable[[argparse.Namespace], None]


PARTS = {
    "train": Part(tokenizer_tasks.add_train_arguments, tokenizer_tasks.compare_kinds),
    "memory": Part(tokenizer_tasks.add_memory_arguments, tokenizer_tasks.measure_memory),
    "shards": Part(shard_tasks.add_shard_arguments, shard_tasks.measure_shards),
    "packing": Part(packing.add_arguments, packing.measure),
    "loader": Part(loader_tasks.add_loader_arguments, loader_tasks.compare_loaders),
    "access": Part(loader_tasks.add_access_arguments, loader_tasks.measure_access),
}


def main() -> None:
    """Prints the machine and the tables of one part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(dest="part", required=True)
    for name, part in PARTS.items():
        part.add_arguments(parts.add_parser(name))
    options = parser.parse_args()
    # In the process of a part that starts itself again there is nothing to say.
    if not getattr(options, "child", None):
        cores = len(os.sched_getaffinity(0))
        gain = f", two pinned busy loops do {busy_loop_gain():.2f} times one" if cores > 1 else ""
        print(f"{machine()}{gain}", flush=True)
    PARTS[options.part].work(options)


if __name__ == "__main__":
    main()
