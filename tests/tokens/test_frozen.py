"""The data order is frozen: changing it needs a new format version, a reader for the old one, a line in CHANGELOG."""

import hashlib
import json
from pathlib import Path

import numpy as np

from danlu.shards.shard import FORMAT

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "frozen_samples.json").read_text())


def test_first_thousand_samples_of_a_fixed_corpus(make_batches, monkeypatch):
    monkeypatch.setattr("danlu.tokens.index.GROUP_TOKENS", 2048)
    lengths = {
        "code": [2 + n * n % 97 for n in range(150)],
        "prose": [2 + n * 37 % 61 for n in range(90)],
    }
    hashes = {}
    for packing in ("best_fit", "chunk"):
        batches = make_batches(
            lengths, sequence_length=32, packing=packing, weights={"code": 0.7, "prose": 0.3}, max_epochs=50.0
        )
        batch = batches.batch(0, 1000)
        hasher = hashlib.sha256()
        for array in (batch.inputs, batch.labels, batch.positions, batch.documents):
            hasher.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
        hashes[packing] = hasher.hexdigest()
    assert {"format": FORMAT, "sha256": hashes} == GOLDEN
