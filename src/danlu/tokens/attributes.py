"""What is known of each document of a domain: its sizes from the shards, the rest from the ledger of the corpus.

Decides: names. `bytes` and `tokens` are the shards' own; `language`, `source` and the measures of the corpus steps are
the ledger's, "step.measure" as step_measure, since a condition has no dots.
Guarantees: a value is that of the document of this id, domain and split that was kept; a document without a row in the
ledger is an error, a measure that was not taken is NaN.
Costs: only the columns that are named are read, and only if one is the ledger's: a second a million rows; memory 100 to
200 bytes a document.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from danlu.account.ledger import list_measures, measure_values, read_ledger
from danlu.config import nearest
from danlu.errors import MismatchError, RecipeError
from danlu.expressions import Condition, read_condition
from danlu.mixture.settings import TEXT_ATTRIBUTES
from danlu.rng import UInt64s, hash_text
from danlu.shards.documents import DomainDocuments

SIZES = ("bytes", "tokens")
"""Attributes that the shards have."""

Values = npt.NDArray[np.float64] | npt.NDArray[np.object_]
"""float64 (documents,), or texts as Python objects."""


def read_attributes(
    documents: DomainDocuments, corpus: Path, split: str, names: Sequence[str]
) -> dict[str, Values]:
    """Each named attribute of every document, by its number; sizes are those of the text and tokens as they are.

    Raises RecipeError for a name that the corpus does not store, MissingError where there is no ledger, MismatchError
    where a document has no row in it.
    """
    sizes: dict[str, Values] = {
        "bytes": documents.byte_counts.astype(np.float64),
        "tokens": documents.lengths.astype(np.float64),
    }
    stored = [name for name in dict.fromkeys(names) if name not in SIZES]
    found = _from_ledger(documents, corpus, split, stored) if stored else {}
    return {name: sizes[name] if name in SIZES else found[name] for name in names}


def read_stored_condition(where: str, corpus: Path, key: str) -> Condition:
    """A condition over what the corpus stores; RecipeError begins with the recipe's `key`."""
    try:
        return read_condition(where, SIZES)
    except ValueError:
        measures = _columns_by_name(corpus)
    try:
        return read_condition(where, [*SIZES, *measures], TEXT_ATTRIBUTES)
    except ValueError as error:
        raise RecipeError(f"{key}: {error}") from None


def _columns_by_name(corpus: Path) -> dict[str, str]:
    """The attribute names of the corpus' measures and their columns. Raises RecipeError where two are one name."""
    columns: dict[str, str] = {}
    for column in list_measures(corpus):
        name = re.sub(r"\W", "_", column)
        if name in columns:
            raise RecipeError(
                f"the measures {columns[name]!r} and {column!r} of the corpus are both {name!r} to slices and orders; "
                f"give one of the steps another name"
            )
        columns[name] = column
    return columns


def _from_ledger(
    documents: DomainDocuments, corpus: Path, split: str, names: Sequence[str]
) -> dict[str, Values]:
    measures = {name for name in names if name not in TEXT_ATTRIBUTES}
    columns = _columns_by_name(corpus) if measures else {}
    if unknown := sorted(measures - set(columns)):
        hint = nearest(unknown[0], [*SIZES, *columns])
        raise RecipeError(f"the corpus in {corpus} stores no {unknown[0]!r} of its documents; {hint}")
    columns.update((name, name) for name in TEXT_ATTRIBUTES)
    hashes, found = _read_rows(
        documents.source_domain, corpus, split, {name: columns[name] for name in names}
    )
    return _join(documents, corpus, split, hashes, found)


def _read_rows(
    domain: str, corpus: Path, split: str, columns: Mapping[str, str]
) -> tuple[UInt64s, dict[str, Values]]:
    """The hashed ids and the columns of all documents of the domain and split that were kept."""
    hashes = [np.zeros(0, dtype=np.uint64)]
    parts: dict[str, list[npt.NDArray[Any]]] = {
        name: [np.zeros(0, dtype=object if name in TEXT_ATTRIBUTES else np.float64)] for name in columns
    }
    for batch in read_ledger(corpus, ["domain", "split", "reason", "id", *columns.values()]):
        kept = batch.filter(
            pc.and_(
                pc.and_(pc.equal(batch["domain"], domain), pc.equal(batch["split"], split)),
                pc.equal(batch["reason"], ""),
            )
        )
        hashes.append(np.array([hash_text(ident) for ident in kept["id"].to_pylist()], dtype=np.uint64))
        for name, column in columns.items():
            parts[name].append(_cells(kept, column))
    return np.concatenate(hashes), {name: np.concatenate(cells) for name, cells in parts.items()}


def _cells(batch: pa.RecordBatch, column: str) -> Values:
    """A column as floats or texts; equal texts of a batch are one object."""
    if column not in TEXT_ATTRIBUTES:
        return measure_values(batch, column)
    coded = batch[column].dictionary_encode()
    texts: npt.NDArray[np.object_] = np.array(coded.dictionary.to_pylist(), dtype=object)
    found: npt.NDArray[np.object_] = texts[coded.indices.to_numpy()]
    return found


def _join(
    documents: DomainDocuments, corpus: Path, split: str, hashes: UInt64s, found: Mapping[str, Values]
) -> dict[str, Values]:
    """Each document's values, found by the hash of its id; of several rows with one hash each document has its own,
    because ledger and shards have the same order.
    """
    order = np.argsort(hashes, kind="stable")
    ordered, wanted = hashes[order], documents.id_hashes()
    places = np.searchsorted(ordered, wanted) + documents.occurrences()
    there = places < len(ordered)
    there[there] = ordered[places[there]] == wanted[there]
    if not there.all():
        lost = np.flatnonzero(~there)
        first = documents.provenance(int(lost[0]))
        raise MismatchError(
            f"{len(lost):,} of {len(documents):,} {split} documents of domain {documents.source_domain!r} have no row "
            f"in the ledger of {corpus}, e.g. {first['id']!r} of {first['source']}: it is of another corpus, imported "
            f"or joined; build the tokens again, or cut and order this domain by {' or '.join(SIZES)} alone"
        )
    rows = order[places]
    return {name: values[rows] for name, values in found.items()}
