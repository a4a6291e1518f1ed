"""TRL's best-fit decreasing with long documents split, over a data set of token ids in one batch, as it is used.

Its time includes the copy of the ids, which it packs with the index. Prints JSON with the filled length of each sample.
Run by the peer's Python:  python trl_packing.py LENGTHS.npy SEQUENCE_LENGTH
"""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
from clock import Clock
from datasets import Dataset, disable_caching, disable_progress_bars
from trl.data_utils import pack_dataset


def main() -> None:
    """Times one pass."""
    lengths, length, clock = np.load(sys.argv[1], allow_pickle=False), int(sys.argv[2]), Clock()
    disable_caching()
    disable_progress_bars()
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int64())
    ids = pa.LargeListArray.from_arrays(offsets, pa.array(np.arange(lengths.sum(), dtype=np.int32)))
    data = Dataset(pa.table({"input_ids": ids}))
    whole = {"batch_size": len(lengths), "writer_batch_size": 100_000}
    with clock.stage("packing"):
        packed = pack_dataset(data, length, strategy="bfd_split", map_kwargs=whole)
    column = packed.data.column("input_ids")
    filled = np.concatenate([np.diff(chunk.offsets.to_numpy()) for chunk in column.chunks])
    clock.report("trl", samples=len(packed), filled=np.bincount(filled, minlength=length + 1).tolist())


if __name__ == "__main__":
    main()
