"""For the keys of `[tokens]` another value: of those that decide samples, and of those that decide the shards."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from danlu.recipe import Recipe
from danlu.shards.documents import open_documents
from danlu.shards.megatron import write_pair
from danlu.workflow.run import Run
from danlu.workflow.texts import encode_corpus

PACKINGS: dict[str, tuple[Any, dict[str, Any]]] = {
    "packing": ("chunk", {}),
    "document_mask": (False, {"tokens.reset_positions": False}),
    "reset_positions": (False, {}),
}
"""Keys that decide how documents become samples."""

SHARDS: dict[str, tuple[Any, set[str], dict[str, Any]]] = {
    # Below the first wildcard lies one folder: all of its files.
    "join": ({"code": "folder"}, {"train/code"}, {"corpus.source[0].paths": ["*/*.py"]}),
    "megatron": (
        {"books": "pair"},
        {"train/books"},
        {"mixture.weights": {}, "tokenizer": {"path": "given.json"}},
    ),
}
"""Key -> value, the domains of which the shards differ, the recipe around it."""


def encoded(recipe: Recipe, run: Path, place: Path) -> dict[str, Any]:
    """The ids of every document, of each split and domain."""
    shutil.copytree(run / "corpus", place / "corpus")
    shutil.copytree(run / "tokenizer", place / "tokenizer")
    write_pair(place / "pair", 320, [(np.array([5, 6, 7], dtype=np.uint16), np.array([2, 1]))])
    report = encode_corpus(Run(recipe, place, place), place / "tokens")
    found: dict[str, Any] = {}
    for row in report.domains:
        name = f"{row.split}/{row.domain}"
        documents = open_documents(place / "tokens" / name)
        found[name] = [documents.tokens_of(n, 0, 10**9).tolist() for n in range(len(documents))]
    return found
