"""rensa's MinHash from texts in memory to the documents that stay, in its fastest full-set form.

Shingles are made in Python (rensa has none): lower-cased words at white space, joined by fives. 112 slots in 14 bands.
Signatures and the index are built in batches; a document goes where an earlier one is in a bucket with it, without
clusters of more than one step. Prints JSON.
Run by the peer's Python:  python rensa_minhash.py DOCUMENTS.jsonl
"""

from __future__ import annotations

import sys

from clock import WARM_UP, Clock, read_documents
from rensa import RMinHash, RMinHashLSH

SLOTS, BANDS, WORDS, THRESHOLD, SEED = 112, 14, 5, 0.72, 42


def shingles(text: str) -> list[str]:
    """The text's runs of five words, at least one."""
    words = text.lower().split()
    return [" ".join(words[at : at + WORDS]) for at in range(max(1, len(words) - WORDS + 1))]


def main() -> None:
    """Times one pass."""
    rows, clock = read_documents(sys.argv[1]), Clock()
    RMinHash.from_token_sets([shingles(WARM_UP)], num_perm=SLOTS, seed=SEED)
    with clock.stage("shingles"):
        sets = [shingles(row["text"]) for row in rows]
    with clock.stage("signatures"):
        matrix = RMinHash.digest_matrix_from_token_sets(sets, num_perm=SLOTS, seed=SEED)
    with clock.stage("buckets"):
        index = RMinHashLSH(threshold=THRESHOLD, num_perm=SLOTS, num_bands=BANDS)
        flags = index.insert_matrix_and_query_duplicate_flags(matrix)
    clock.report("rensa", kept=len(rows) - sum(flags))


if __name__ == "__main__":
    main()
