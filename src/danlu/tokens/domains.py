"""The domains of a run: those of the corpus, and slices that are made of some of their documents.

Decides: a document goes to the first slice of its domain, in the recipe's order, whose condition surely holds; the
domain keeps the rest. What a condition needs and was not measured leaves it where it was, and is counted aloud.
Guarantees: every document is in one domain; the same shards, ledger and conditions give the same domains, in which
documents stay in the order of their hashed ids.
Costs: the ledger's columns once for every domain that is cut; nothing where there are no slices.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from danlu.errors import InputError
from danlu.log import say
from danlu.mixture.settings import Slice
from danlu.records import Ints
from danlu.shards.documents import DomainDocuments, list_token_domains, open_documents
from danlu.tokenizer.codec import Codec
from danlu.tokens.attributes import Values, read_attributes, read_stored_condition
from danlu.tokens.conditions import TRUE, UNSURE, judge_columns

_KEPT = -1
"""The slice of a document that stays in its domain."""

_SHOWN_TEXTS = 5


def open_domains(
    directory: Path,
    split: str,
    corpus: Path,
    slices: Mapping[str, Slice],
    codec: Codec | None = None,
) -> dict[str, DomainDocuments]:
    """The documents of every domain of tokens/<split>, the recipe's slices cut out; by name, sorted.

    Raises InputError where a slice of the training text, or what it leaves of its domain, is empty; a validation split
    may lack either. RecipeError, MissingError and MismatchError are those of `read_attributes`.
    """
    domains = {
        name: open_documents(directory / split / name, codec) for name in list_token_domains(directory, split)
    }
    for base in dict.fromkeys(cut.of for cut in slices.values()):
        named = {name: cut for name, cut in slices.items() if cut.of == base}
        if base in domains:
            domains.update(_cut(domains.pop(base), corpus, split, named))
        elif split == "train":
            first = next(iter(named))
            raise InputError(f"mixture.slice.{first}: domain {base!r} has no training text to take it from")
    return dict(sorted(domains.items()))


def rank_by(documents: DomainDocuments, corpus: Path, split: str, attribute: str) -> Ints:
    """The numbers of the documents in the order of an attribute, int64 (documents,): rising, or falling for "-name".

    Equal ones stay in their order; those without the measure come last and are counted aloud. Raises as
    `read_attributes` does.
    """
    name = attribute.removeprefix("-")
    values = read_attributes(documents, corpus, split, [name])[name].astype(np.float64)
    missing = int(np.isnan(values).sum())
    if missing:
        say(
            f"order of {documents.domain}: {missing:,} of {len(documents):,} {split} documents have no {name}; "
            f"they come last"
        )
    return np.argsort(-values if attribute.startswith("-") else values, kind="stable").astype(np.int64)


def _cut(
    documents: DomainDocuments, corpus: Path, split: str, slices: Mapping[str, Slice]
) -> dict[str, DomainDocuments]:
    """A domain and its slices as domains; in a validation split those that have a document."""
    named = {
        name: read_stored_condition(cut.where, corpus, f"mixture.slice.{name}.where").names
        for name, cut in slices.items()
    }
    wanted = list(dict.fromkeys(itertools.chain.from_iterable(named.values())))
    attributes = read_attributes(documents, corpus, split, wanted)
    chosen, unsure = _choose([cut.where for cut in slices.values()], attributes, len(documents))
    parts = {documents.domain: np.flatnonzero(chosen == _KEPT)}
    parts.update((name, np.flatnonzero(chosen == place)) for place, name in enumerate(slices))
    for place, name in enumerate(slices):
        if unsure[place]:
            say(
                f"slice {name}: {unsure[place]:,} of {len(documents):,} {split} documents of {documents.domain} stay "
                f"in it, because what decides was not measured of them"
            )
    if split == "train":
        if not len(parts[documents.domain]):
            raise InputError(
                f"mixture.slice: {', '.join(slices)} take all {len(documents):,} training documents of "
                f"{documents.domain!r}, and nothing is left of it; remove a slice, or narrow its condition"
            )
        for place, name in enumerate(slices):
            if not len(parts[name]):
                free = (chosen == _KEPT) | (chosen > place)
                there = {attribute: attributes[attribute][free] for attribute in named[name]}
                raise InputError(_nothing(name, slices[name], there, int(free.sum()), unsure[place]))
    return {name: documents.select(numbers, name) for name, numbers in parts.items() if len(numbers)}


def _choose(
    wheres: Sequence[str], attributes: Mapping[str, Values], documents: int
) -> tuple[Ints, list[int]]:
    """The slice of each document, int64 (documents,), and for how many that stay each condition was not sure."""
    chosen = np.full(documents, _KEPT, dtype=np.int64)
    truths = [judge_columns(where, attributes, documents) for where in wheres]
    for place, truth in enumerate(truths):
        chosen[(truth == TRUE) & (chosen == _KEPT)] = place
    return chosen, [int(((truth == UNSURE) & (chosen == _KEPT)).sum()) for truth in truths]


def _nothing(name: str, cut: Slice, there: Mapping[str, Values], documents: int, unsure: int) -> str:
    """Why a slice is empty: the condition, and what the documents that no earlier slice took have of its attributes."""
    missing = f" ({unsure:,} of them are not measured)" if unsure else ""
    seen = "; ".join(f"{attribute} is {_spread(values)}" for attribute, values in there.items())
    return (
        f"mixture.slice.{name}.where = {cut.where!r} holds for none of the {documents:,} training documents of "
        f"{cut.of!r} that no earlier slice takes{missing}: their {seen}; widen it, or remove the slice"
    )


def _spread(values: Values) -> str:
    """The least and the greatest number, or the most frequent texts."""
    if values.dtype == object:
        most = Counter(values.tolist()).most_common(_SHOWN_TEXTS)
        return ", ".join(f"{text!r} ({count:,})" for text, count in most)
    numbers = values[~np.isnan(values.astype(np.float64))]
    return f"{numbers.min():g} to {numbers.max():g}" if len(numbers) else "not measured"
