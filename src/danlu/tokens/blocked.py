"""Documents that a run no longer shows: RUN/blocked.jsonl, a line for each with the step from which on it is left out.

Decides: the order of the data never changes; where a blocked document would stand there is padding. What was trained on
before stays as it was, so that a step that is looked at or replayed is the same one. Guarantees: a line that is none is
named, not passed over; a document is found by its id in any domain of the run. Costs: nothing where nothing is blocked,
else one search of the hashes of all ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from pydantic import Field, ValidationError

from danlu.config import Section
from danlu.errors import DamagedError, MismatchError, MissingError
from danlu.files import write_bytes
from danlu.rng import hash_text
from danlu.shards.documents import DomainDocuments

FILE = "blocked.jsonl"


class Line(Section):
    """A line of the file: a document, and the first step that does not show it, 1 being the first of the run."""

    id: str
    from_step: int = Field(ge=1)


def block_documents(
    run: Path, documents: Mapping[str, DomainDocuments], ids: Sequence[str], from_step: int
) -> int:
    """Writes down that these documents are not shown from step `from_step` on, 1 being the first of the run.

    Returns how many were not blocked yet. Raises MissingError for an id that no domain has; then none is blocked.
    """
    found = _find(documents, ids)
    for name in ids:
        if name not in found:
            raise MissingError(
                f"no document of {run} is called {name!r}; `danlu inspect {run} --step 1` shows the ids of a step"
            )
    rows = _read(run / FILE)
    known = {row.id for row in rows}
    new = [Line(id=name, from_step=from_step) for name in dict.fromkeys(ids) if name not in known]
    if new:
        _write(run / FILE, [*rows, *new])
    return len(new)


def read_blocked(run: Path, documents: Mapping[str, DomainDocuments]) -> dict[str, dict[int, int]]:
    """Domain -> document number -> the first global step, 0 at the start of the run, that does not show it."""
    rows = _read(run / FILE)
    found = _find(documents, [row.id for row in rows])
    blocked: dict[str, dict[int, int]] = {}
    for row in rows:
        if row.id not in found:
            raise MismatchError(
                f"{run / FILE} blocks {row.id!r}, which no domain of the run has; take its line out"
            )
        for domain, number in found[row.id]:
            blocked.setdefault(domain, {})[number] = row.from_step - 1
    return blocked


def block_from_the_start(run: Path) -> None:
    """Lets what is blocked be so from the first step on: for a training that starts over."""
    if rows := _read(run / FILE):
        _write(run / FILE, [Line(id=row.id, from_step=1) for row in rows])


def _read(path: Path) -> list[Line]:
    """The lines; DamagedError names one that is none, because a document that is blocked must not come back unsaid."""
    rows = []
    for number, line in enumerate(path.read_bytes().splitlines() if path.exists() else (), 1):
        try:
            rows.append(Line.model_validate_json(line, strict=True))
        except ValidationError:
            raise DamagedError(
                f'{path}, line {number} is none of {{"id": "...", "from_step": 1}}; mend it or take it out'
            ) from None
    return rows


def _write(path: Path, rows: Sequence[Line]) -> None:
    write_bytes(path, b"".join(row.model_dump_json().encode() + b"\n" for row in rows))


def _find(documents: Mapping[str, DomainDocuments], names: Sequence[str]) -> dict[str, list[tuple[str, int]]]:
    """Id -> (domain, number) of every document that has it; ids that none has are left out."""
    found: dict[str, list[tuple[str, int]]] = {}
    if not names:
        return found
    wanted = np.array([hash_text(name) for name in names], dtype=np.uint64)
    for domain, some in documents.items():
        hashes = some.id_hashes()
        first, stop = np.searchsorted(hashes, wanted), np.searchsorted(hashes, wanted, side="right")
        for name, low, high in zip(names, first.tolist(), stop.tolist(), strict=True):
            for number in range(low, high):
                if some.provenance(number)["id"] == name:
                    found.setdefault(name, []).append((domain, number))
    return found
