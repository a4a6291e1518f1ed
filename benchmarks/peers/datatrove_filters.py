"""datatrove's four English filters over documents in memory: as FineWeb chains them, or each on every document.

Order and settings of FineWeb: Gopher repetition, Gopher quality, C4 without the rule of terminal punctuation, FineWeb's
own. `early` stops at the first filter that drops; `all` gives every filter the original text. Prints JSON.
Run by the peer's Python:  python datatrove_filters.py DOCUMENTS.jsonl early|all
"""

from __future__ import annotations

import sys
from typing import Any

from clock import WARM_UP, Clock, read_documents
from datatrove.data import Document
from datatrove.pipeline.filters import (
    C4QualityFilter,
    FineWebQualityFilter,
    GopherQualityFilter,
    GopherRepetitionFilter,
)

LANGUAGE = "eng"


def make_filters() -> list[Any]:
    """The four filters in FineWeb's order."""
    return [
        GopherRepetitionFilter(language=LANGUAGE),
        GopherQualityFilter(language=LANGUAGE),
        C4QualityFilter(filter_no_terminal_punct=False, language=LANGUAGE),
        FineWebQualityFilter(language=LANGUAGE),
    ]


def passes_chain(filters: list[Any], document: Document) -> bool:
    """True where no filter drops; those after the first that does are not asked."""
    return all(step.filter(document) is True for step in filters)


def passes_each(filters: list[Any], document: Document) -> bool:
    """True where no filter drops the original text; all are asked."""
    verdicts = [step.filter(Document(text=document.text, id=document.id)) is True for step in filters]
    return all(verdicts)


def main() -> None:
    """Times one pass."""
    rows, passes = read_documents(sys.argv[1]), {"early": passes_chain, "all": passes_each}[sys.argv[2]]
    filters, clock = make_filters(), Clock()
    passes_each(filters, Document(text=WARM_UP * 20, id="warm-up"))
    with clock.stage("filters"):
        kept = sum(passes(filters, Document(text=row["text"], id=row["id"])) for row in rows)
    clock.report("datatrove", kept=kept)


if __name__ == "__main__":
    main()
