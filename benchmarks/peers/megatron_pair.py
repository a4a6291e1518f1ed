"""megatron-core's indexed dataset: what it reads in a pair of ours, and the bytes that its own builder writes of it.

Run by the peer's Python:  python megatron_pair.py PREFIX OWN_PREFIX VOCAB_SIZE
"""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from megatron.core.datasets.indexed_dataset import DType, IndexedDataset, IndexedDatasetBuilder


def main() -> None:
    """Prints the hash of each document as int64, and those of the two files that it writes."""
    prefix, own, vocab_size = sys.argv[1], sys.argv[2], int(sys.argv[3])
    data = IndexedDataset(prefix)
    builder = IndexedDatasetBuilder(f"{own}.bin", dtype=DType.optimal_dtype(vocab_size))
    hashes = []
    for first, stop in zip(data.document_indices[:-1], data.document_indices[1:], strict=True):
        ids = np.concatenate([data[int(number)] for number in range(first, stop)])
        hashes.append(sha256(ids.astype("<i8").tobytes()).hexdigest())
        builder.add_document(torch.from_numpy(ids.astype(np.int64)), [len(ids)])
    builder.finalize(f"{own}.idx")
    files = {end: sha256(Path(f"{own}.{end}").read_bytes()).hexdigest() for end in ("bin", "idx")}
    print(json.dumps({"package": f"megatron-core {version('megatron-core')}", "documents": hashes, **files}))


if __name__ == "__main__":
    main()
