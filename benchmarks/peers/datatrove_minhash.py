"""datatrove's MinHash from texts in memory to the documents that stay: signatures, buckets, clusters, filter.

14 buckets of 8 hashes over 5-grams, its defaults (as FineWeb, but with its faster xxhash). Only what its four stages do
is timed, through its executor on one worker. Prints JSON with the seconds of each stage and the number kept; where a
third path is given, the clusters of more than one document are saved too and written there as lists of ids.
Run by the peer's Python:  python datatrove_minhash.py DOCUMENTS.jsonl EMPTY_FOLDER [CLUSTERS.json]
"""

from __future__ import annotations

import json
import struct
import sys
from collections import defaultdict
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


def read_clusters(path: Path, rows: list[dict[str, Any]]) -> list[list[str]]:
    """The ids of each saved cluster; the file holds pairs of a document's place and its cluster's number."""
    members = defaultdict(list)
    # There is no file where there are no clusters.
    for place, cluster in struct.iter_unpack("<2I", path.read_bytes() if path.exists() else b""):
        members[cluster].append(rows[place]["id"])
    return list(members.values())


def main() -> None:
    """Times one pass."""
    rows, folder, clock = read_documents(sys.argv[1]), Path(sys.argv[2]), Clock()
    logger.remove()
    signatures, buckets, clusters = (str(folder / name) for name in ("signatures", "buckets", "clusters"))
    signer = MinhashDedupSignature(signatures, language=LANGUAGE)
    signer.get_signature(signer.get_shingles(WARM_UP))
    output, kept = sys.argv[3:], 0

    def documents(*_: Any, **__: Any) -> Iterator[Document]:
        return (Document(text=row["text"], id=row["id"]) for row in rows)

    def keep(data: Iterator[Document], *_: Any, **__: Any) -> Iterator[Document]:
        nonlocal kept
        for document in data:
            kept += 1
            yield document

    with clock.stage("signatures"):
        run(folder / "1", [documents, signer])
    with clock.stage("buckets"):
        run(folder / "2", [MinhashDedupBuckets(signatures, buckets)], tasks=BUCKETS)
    with clock.stage("clusters"):
        run(folder / "3", [MinhashDedupCluster(buckets, clusters, save_cluster_id=bool(output))])
    with clock.stage("filter"):
        run(folder / "4", [documents, MinhashDedupFilter(clusters), keep])
    if output:
        found = read_clusters(folder / "clusters" / "000000.clusters", rows)
        Path(output[0]).write_text(json.dumps(found), encoding="utf-8")
    clock.report("datatrove", kept=kept)


if __name__ == "__main__":
    main()
