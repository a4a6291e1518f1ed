"""datatrove's MinHash from texts in memory to the documents that stay: signatures, buckets, clusters, filter.

14 buckets of 8 hashes over 5-grams, its defaults (as FineWeb, but with its faster xxhash). Only what its four stages do
is timed, through its executor on one worker. Prints JSON with the seconds of each stage and the number kept.
Run by the peer's Python:  python datatrove_minhash.py DOCUMENTS.jsonl EMPTY_FOLDER [IDS_OF_KEPT.json]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clock import WARM_UP, Clock, read_documents
from datatrove.data import Document
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import (
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
)
from loguru import logger

LANGUAGE = "eng"
BUCKETS = 14


def run(folder: Path, steps: list[Any], tasks: int = 1) -> None:
    """Runs steps in this process, one task after the other."""
    LocalPipelineExecutor(
        steps, tasks=tasks, workers=1, logging_dir=str(folder / "logs"), skip_completed=False
    ).run()


def main() -> None:
    """Times one pass."""
    rows, folder, clock = read_documents(sys.argv[1]), Path(sys.argv[2]), Clock()
    logger.remove()
    signatures, buckets, clusters = (str(folder / name) for name in ("signatures", "buckets", "clusters"))
    signer = MinhashDedupSignature(signatures, language=LANGUAGE)
    signer.get_signature(signer.get_shingles(WARM_UP))
    kept: list[str] = []

    def documents(*_: Any, **__: Any) -> Iterator[Document]:
        return (Document(text=row["text"], id=row["id"]) for row in rows)

    def keep(data: Iterator[Document], *_: Any, **__: Any) -> Iterator[Document]:
        for document in data:
            kept.append(document.id)
            yield document

    with clock.stage("signatures"):
        run(folder / "1", [documents, signer])
    with clock.stage("buckets"):
        run(folder / "2", [MinhashDedupBuckets(signatures, buckets)], tasks=BUCKETS)
    with clock.stage("clusters"):
        run(folder / "3", [MinhashDedupCluster(buckets, clusters)])
    with clock.stage("filter"):
        run(folder / "4", [documents, MinhashDedupFilter(clusters), keep])
    if len(sys.argv) > 3:
        Path(sys.argv[3]).write_text(json.dumps(kept))
    clock.report("datatrove", kept=len(kept))


if __name__ == "__main__":
    main()
