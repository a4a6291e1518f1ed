"""A corpus of a handful of documents with its ledger, made by steps so small that every decision can be seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from danlu.account.funnel import Funnel, funnel_of
from danlu.account.ledger import Row, excerpt_of, ledger_path
from danlu.account.step import Step
from danlu.account.writing import new_ledger
from danlu.config import Section
from danlu.files import write_json
from danlu.read.store import part_path, write_part
from danlu.records import Document


class Visible(Section):
    use: Literal["visible"] = "visible"
    min_characters: int = 1


class Wordy(Section):
    use: Literal["wordy"] = "wordy"
    min_words: int = 3
    max_words: int = 8
    min_mean_length: float = 2.0
    lower: bool = False


class Loud(Section):
    use: Literal["loud"] = "loud"
    max_upper_share: float = 0.5


class Same(Section):
    use: Literal["same"] = "same"
    keep: str = "first"


def module(name: str, **names: Any) -> ModuleType:
    made = ModuleType(name)
    vars(made).update(names)
    return made


def visible(values: Sequence[float], settings: Any) -> str:
    return "blank" if values[0] < settings.min_characters else ""


def wordy(values: Sequence[float], settings: Any) -> str:
    words, length = values
    if words < settings.min_words:
        return "few_words"
    if words > settings.max_words:
        return "many_words"
    return "short_words" if length < settings.min_mean_length else ""


def loud(values: Sequence[float], settings: Any) -> str:
    return "upper" if values[0] > settings.max_upper_share else ""


VISIBLE = module("visible", MEASURES=("characters",), decide=visible)
WORDY = module("wordy", MEASURES=("words", "mean_length"), decide=wordy)
LOUD = module("loud", MEASURES=("upper_share",), decide=loud)


def steps_of(*settings: Section) -> list[Step]:
    """The four steps; some with other settings."""
    given = {type(one): one for one in settings}
    modules = ((Visible(), VISIBLE), (Wordy(), WORDY), (Loud(), LOUD), (Same(), None))
    return [Step(one.use, given.get(type(one), one), made) for one, made in modules]


TEXTS = (
    ("a-0", "one two three four"),
    ("a-1", "one two"),
    ("a-2", "   "),
    ("a-3", "ONE TWO THREE FOUR"),
    ("a-4", "A B"),
    ("a-5", "one two three four"),
    ("b-0", "a b c d"),
    ("b-1", "one two three four five six seven eight nine"),
    ("b-2", "four words are enough"),
    ("b-3", "five words are kept here"),
)
"""Ids (the domain is the letter) and texts; the first five are shard 0."""

REASONS = {
    "a-0": "",
    "a-1": "wordy.few_words",
    "a-2": "visible.blank",
    "a-3": "loud.upper",
    "a-4": "wordy.few_words",
    "a-5": "same.duplicate",
    "b-0": "wordy.short_words",
    "b-1": "wordy.many_words",
    "b-2": "",
    "b-3": "",
}


def measures_of(text: str) -> tuple[float, ...]:
    """characters, words, mean_length, upper_share; the last three NaN where nothing is visible."""
    words = text.split()
    if not words:
        return (0.0, math.nan, math.nan, math.nan)
    letters = sum(map(len, words))
    return (float(letters), float(len(words)), letters / len(words), sum(map(str.isupper, text)) / letters)


def number_of(ident: str) -> int:
    """The number of a document: shard << 32 | place."""
    place = [name for name, _ in TEXTS].index(ident)
    return place if place < 5 else (1 << 32) | (place - 5)


def row_of(ident: str, text: str) -> Row:
    reason = REASONS[ident]
    is_copy = reason == "same.duplicate"
    size = len(text.encode())
    return Row(
        number_of(ident),
        ident,
        ident[0],
        f"{ident[0]}.txt",
        10,
        10 + size,
        size,
        "validation" if ident == "b-3" else "train",
        language="en",
        splitter="plain" if text.strip() else "",
        url=f"https://example.org/{ident}" if ident == "a-0" else "",
        kept_bytes=0 if reason else size,
        step=reason.partition(".")[0],
        reason=reason,
        match=0 if is_copy else -1,
        pair=0 if is_copy else -1,
        similarity=1.0 if is_copy else math.nan,
        excerpt=excerpt_of(text) if reason else "",
        values=measures_of(text),
    )


def write_ledger(corpus: Path) -> list[Row]:
    """The ledger's two parts; returns the rows."""
    columns = [column for step in steps_of() for column in step.columns]
    rows = [row_of(*item) for item in TEXTS]
    for shard in (0, 1):
        path = ledger_path(corpus, shard)
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_ledger(path, columns) as writer:
            for row in rows:
                if row.number >> 32 == shard:
                    writer.add(row)
    return rows


def write_small_corpus(corpus: Path) -> Funnel:
    """Ledger, parts and funnel."""
    rows = write_ledger(corpus)
    texts = dict(TEXTS)
    kept = [row for row in rows if not row.reason]
    for split, domain in sorted({(row.split, row.domain) for row in kept}):
        documents = [
            Document(row.id, texts[row.id], row.source, domain, row.id, row.start, row.end)
            for row in kept
            if (row.split, row.domain) == (split, domain)
        ]
        write_part(part_path(corpus, split, domain, 0), documents)
    funnel = funnel_of(corpus, ["a", "b"], ("id", *(step.name for step in steps_of())), {"truncated": 2})
    write_json(corpus / "funnel.json", funnel.to_json())
    return funnel
