"""A whole deduplication round in one call: sign shards, resolve, read the outcomes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from danlu.dedup.contract import Alive, Outcome, Run, apply_cuts, open_signer, read_outcome, resolve
from danlu.dedup.settings import SharedStep
from danlu.words.text import Text

Document = str | tuple[str, bool]
"""A text, or a text and whether it is held out."""


@dataclass(frozen=True)
class Round:
    """What came out: `work`, and the outcome of each shard."""

    work: Path
    shards: list[list[Document]]
    outcomes: list[Outcome]

    def dropped(self) -> list[bool]:
        """For all documents, shard after shard."""
        return [bool(value) for outcome in self.outcomes for value in outcome.dropped]

    def texts(self) -> list[str]:
        """All documents after the cuts."""
        return [
            apply_cuts(text_of(document), outcome.cuts.get(index, []))
            for documents, outcome in zip(self.shards, self.outcomes, strict=True)
            for index, document in enumerate(documents)
        ]


def text_of(document: Document) -> str:
    return document if isinstance(document, str) else document[0]


def in_order(
    function: Callable[[dict[str, Any]], None], arguments: Sequence[dict[str, Any]], title: str
) -> None:
    """Runs tasks here; the arguments travel as JSON."""
    assert title
    for argument in arguments:
        function(json.loads(json.dumps(argument)))


def sign(settings: SharedStep, work: Path, shard: int, documents: list[Document], ranges: int) -> None:
    signer = open_signer(settings, work, shard, ranges)
    for index, document in enumerate(documents):
        text, held_out = (document, False) if isinstance(document, str) else document
        signer.add(index, Text(text), held_out)
    signer.close(len(documents))


@pytest.fixture
def deduplicate(tmp_path: Path) -> Callable[..., Round]:
    """(settings, shards, ranges, run, references) -> Round; every call has a directory of its own."""
    count = iter(range(1000))

    def round_of(
        settings: SharedStep,
        shards: list[list[Document]],
        *,
        ranges: int = 2,
        run: Run = in_order,
        references: Sequence[list[Document]] = (),
        alive: Alive | None = None,
    ) -> Round:
        work = tmp_path / f"round-{next(count)}"
        for number, documents in enumerate([*shards, *references]):
            sign(settings, work, number, documents, ranges)
        numbers = range(len(shards) + len(references))
        mine, theirs = numbers[: len(shards)], numbers[len(shards) :]
        resolve(settings, work, mine, ranges, alive or Alive(), run, theirs)
        return Round(work, shards, [read_outcome(work, number) for number in mine])

    return round_of
