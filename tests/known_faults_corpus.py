"""Small corpora for the tests of known faults: texts, a build in one call, and what it left."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import zstandard

from danlu.account.funnel import Funnel
from danlu.account.ledger import read_ledger
from danlu.corpus.build import build_corpus
from danlu.corpus.settings import CorpusSettings
from danlu.read.store import list_domains, list_parts, read_part

_SPELLED = (
    "river stone house light green small table water paper glass north south cloud field bread apple chair music "
    "night morning window garden silver engine letter market"
)
WORDS = _SPELLED.split()
NORMALIZE = {"use": "normalize"}


class Built(NamedTuple):
    """A corpus and its funnel."""

    place: Path
    funnel: Funnel

    def texts(self) -> list[str]:
        """What is kept for training, in order."""
        parts = [
            part
            for domain in list_domains(self.place, "train")
            for part in list_parts(self.place, "train", domain)
        ]
        return [document.text for part in parts for document in read_part(part)]

    def rows(self) -> list[dict[str, Any]]:
        """The ledger."""
        return [row for batch in read_ledger(self.place) for row in batch.to_pylist()]

    def reasons(self) -> dict[str, str]:
        """Why each document is not kept ("" where it is), by its id."""
        return {row["id"]: row["reason"] for row in self.rows()}

    def damages(self) -> list[dict[str, Any]]:
        """The list of damages."""
        return compressed_lines(self.place / "damaged.jsonl.zst")

    def files(self) -> dict[str, bytes]:
        """Every file with its bytes."""
        return {
            str(path.relative_to(self.place)): path.read_bytes()
            for path in self.place.rglob("*")
            if path.is_file()
        }


def compressed_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    with zstandard.ZstdDecompressor().stream_reader(path.read_bytes()) as file:
        return [json.loads(line) for line in file.read().splitlines()]


def prose(number: int, words: int = 30) -> str:
    """A sentence of words in random order: two of different numbers have nearly nothing in common."""
    return f"{' '.join(random.Random(number).choices(WORDS, k=words))}."


def write_texts(path: Path, texts: Mapping[str, str] | Iterable[str]) -> None:
    """A file of JSON lines; the ids are given, or the texts' places."""
    named = texts if isinstance(texts, Mapping) else {str(n): text for n, text in enumerate(texts)}
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.dumps({"id": name, "text": text}) for name, text in named.items()]
    path.write_text("\n".join(rows) + "\n")


def settings(steps: Iterable[Mapping[str, Any]], paths: str = "*.jsonl", **change: Any) -> CorpusSettings:
    """All documents of `paths` for training, in domain d."""
    given = {"validation_share": 0, "source": [{"domain": "d", "paths": [paths]}], "step": [*steps]}
    return CorpusSettings.model_validate({**given, **change})


def build(base: Path, steps: Iterable[Mapping[str, Any]], name: str = "corpus", **change: Any) -> Built:
    """Builds the corpus of `base` into a folder of it."""
    place = base / "out" / name
    place.parent.mkdir(exist_ok=True)
    return Built(place, build_corpus(settings(steps, **change), base, place))
