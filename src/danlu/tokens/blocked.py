"""Documents that a run no longer shows: RUN/blocked.jsonl, a line for each with the step from which on it is left out.

Decides: the order of the data never changes; where a blocked document would stand there is padding. What was trained on
before stays as it was, so that a step that is looked at or replayed is the same one. Guarantees: a line is whole or not
there; a document is found by its id in any domain of the run. Costs: nothing where nothing is blocked, else a search in
the hashes of all ids for each line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from danlu.errors import MismatchError, MissingError
from danlu.files import append_line, read_lines
from danlu.rng import hash_text
from danlu.shards.documents import DomainDocuments

FILE = "blocked.jsonl"


def block_documents(
    run: Path, documents: Mapping[str, DomainDocuments], ids: Sequence[str], from_step: int
) -> int:
    """Writes down that these documents are not shown from step `from_step` on, 1 being the first of the run.

    Returns how many were not blocked yet. Raises MissingError for an id that no domain has; then none is blocked.
    """
    for name in ids:
        if not _find(documents, name):
            raise MissingError(
                f"no document of {run} is called {name!r}; `danlu inspect {run} --step 1` shows the ids of a step"
            )
    known = {row["id"] for row in read_lines(run / FILE)}
    new = [name for name in dict.fromkeys(ids) if name not in known]
    for name in new:
        append_line(run / FILE, {"id": name, "from_step": from_step})
    return len(new)


def read_blocked(run: Path, documents: Mapping[str, DomainDocuments]) -> dict[str, dict[int, int]]:
    """Domain -> document number -> the first global step, 0 at the start of the run, that does not show it."""
    blocked: dict[str, dict[int, int]] = {}
    for row in read_lines(run / FILE):
        found = _find(documents, row["id"])
        if not found:
            raise MismatchError(
                f"{run / FILE} blocks {row['id']!r}, which no domain of the run has; take its line out"
            )
        for domain, number in found:
            blocked.setdefault(domain, {})[number] = row["from_step"] - 1
    return blocked


def _find(documents: Mapping[str, DomainDocuments], name: str) -> list[tuple[str, int]]:
    """(domain, number) of every document with an id."""
    wanted = np.uint64(hash_text(name))
    found = []
    for domain, some in documents.items():
        hashes = some.id_hashes()
        first, stop = np.searchsorted(hashes, wanted), np.searchsorted(hashes, wanted, side="right")
        found += [(domain, n) for n in range(first, stop) if some.provenance(n)["id"] == name]
    return found
