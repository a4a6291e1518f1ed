"""Small networks, packed batches and golden numbers for the tests that train."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from danlu.attention import sdpa
from danlu.attention.contract import Attend
from danlu.model.init import initialise
from danlu.model.network import Network
from danlu.model.settings import ModelSettings
from danlu.model.shape import Shape, resolve_shape
from danlu.records import IGNORE_INDEX, PAD_DOCUMENT

VOCAB_SIZE = 61


def golden(name: str) -> Any:
    """The published or library-made numbers in tests/golden."""
    return json.loads((Path(__file__).parent / "golden" / f"{name}_golden.json").read_text())


def det(*shape: int, scale: float = 1.0) -> Tensor:
    """The golden files' input without randomness: sin(0.7 k + 0.3), fp64."""
    size = int(np.prod(shape))
    return (torch.sin(0.7 * torch.arange(size, dtype=torch.float64) + 0.3) * scale).reshape(shape)


def small_shape(**settings: Any) -> Shape:
    """A network of some 30 thousand parameters with grouped queries."""
    given = {"width": 32, "layers": 2, "heads": 4, "kv_heads": 2, "ffn_width": 48, **settings}
    return resolve_shape(ModelSettings(**given), VOCAB_SIZE)


def make_network(attend: Attend = sdpa.attend, seed: int = 1, **settings: Any) -> Network:
    """An initialised small network; norm gains are moved off 1 so that they matter."""
    network = Network(small_shape(**settings), attend)
    initialise(network, seed)
    with torch.no_grad():
        for name, role in network.roles().items():
            if role == "gain":
                gain = network.get_parameter(name)
                gain.copy_(1.0 + 0.3 * det(len(gain), scale=1.0))
    return network


def packed_row(lengths: list[int], row_length: int, seed: int = 0) -> dict[str, np.ndarray]:
    """One row (1, T) of random documents of these lengths, padded to `row_length`; labels stay within a document."""
    generator = np.random.default_rng(seed)
    row = {
        "inputs": np.zeros((1, row_length), dtype=np.int64),
        "labels": np.full((1, row_length), IGNORE_INDEX, dtype=np.int64),
        "positions": np.zeros((1, row_length), dtype=np.int64),
        "documents": np.full((1, row_length), PAD_DOCUMENT, dtype=np.int64),
    }
    start = 0
    for number, length in enumerate(lengths):
        place = slice(start, start + length)
        tokens = generator.integers(0, VOCAB_SIZE, length)
        row["inputs"][0, place] = tokens
        row["labels"][0, start : start + length - 1] = tokens[1:]
        row["positions"][0, place] = np.arange(length)
        row["documents"][0, place] = number
        start += length
    return row


def stacked(rows: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Rows of one length as a batch."""
    return {key: np.concatenate([row[key] for row in rows]) for key in rows[0]}
