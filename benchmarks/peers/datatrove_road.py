"""datatrove's whole road on one worker: read jsonl, four filters, MinHash in four stages, write jsonl.

As FineWeb does it: the filtered documents are written, read again for the signatures, and once more to be written
without the duplicates. Output is compressed with gzip level as its writer sets it, or not at all (`none`). With a
tokenizer.json the result is read once more and encoded, without the shuffling that its step does by default. Prints
JSON. Run by the peer's Python:  python datatrove_road.py FOLDER_OF_JSONL EMPTY_FOLDER gzip|none [TOKENIZER]
"""

from __future__ import annotations

import sys
from pathlib import Path

from clock import WARM_UP, Clock
from datatrove.data import Document
from datatrove.pipeline.dedup import (
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
)
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.tokens import DocumentTokenizer
from datatrove.pipeline.writers import JsonlWriter
from datatrove_filters import LANGUAGE, make_filters, passes_each
from datatrove_minhash import BUCKETS, run
from loguru import logger


def main() -> None:
    """Times one run over all files of the folder."""
    source, folder, clock = sys.argv[1], Path(sys.argv[2]), Clock()
    compression = None if sys.argv[3] == "none" else sys.argv[3]
    name = "${rank}.jsonl" if compression is None else "${rank}.jsonl.gz"
    logger.remove()
    filters = make_filters()
    passes_each(filters, Document(text=WARM_UP * 20, id="warm-up"))
    filtered, output = str(folder / "filtered"), str(folder / "output")
    signatures, buckets, clusters = (str(folder / part) for part in ("signatures", "buckets", "clusters"))
    writers = [
        JsonlWriter(place, output_filename=name, compression=compression) for place in (filtered, output)
    ]
    signer = MinhashDedupSignature(signatures, language=LANGUAGE)
    signer.get_signature(signer.get_shingles(WARM_UP))
    with clock.stage("read, filter, write"):
        run(folder / "1", [JsonlReader(source, glob_pattern="*.jsonl"), *filters, writers[0]])
    with clock.stage("read, signatures"):
        run(folder / "2", [JsonlReader(filtered), signer])
    with clock.stage("buckets"):
        run(folder / "3", [MinhashDedupBuckets(signatures, buckets)], tasks=BUCKETS)
    with clock.stage("clusters"):
        run(folder / "4", [MinhashDedupCluster(buckets, clusters)])
    with clock.stage("read, filter, write again"):
        run(folder / "5", [JsonlReader(filtered), MinhashDedupFilter(clusters), writers[1]])
    if len(sys.argv) > 4:
        encode = DocumentTokenizer(
            str(folder / "tokens"), sys.argv[4], eos_token="<|end_of_text|>", shuffle_documents=False
        )
        with clock.stage("read, tokens"):
            run(folder / "6", [JsonlReader(output), encode])
    written = sum(path.stat().st_size for path in (folder / "output").iterdir())
    clock.report("datatrove", written_bytes=written)


if __name__ == "__main__":
    main()
