"""What published pipelines kept, to be read beside what a corpus keeps.

Decides: only figures that the named paper gives, or the quotient of two of them (published.toml), each with its unit,
since a share of tokens is not one of documents. They are of crawls of the web, most of them English: a corpus of books
or manuals is right to differ. Costs: one small file.
"""

from __future__ import annotations

import importlib.resources
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass

from danlu.account.funnel import Funnel


@dataclass(frozen=True, slots=True)
class Published:
    """A share that a pipeline keeps; `steps` are ours that do the like, none where it is of a whole pipeline.

    `without` are steps that stand before what the figure is of.
    """

    what: str
    pipeline: str
    kept: float
    unit: str
    figures: str
    place: str
    steps: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


def read_published() -> list[Published]:
    """All that is known, in the order in which a pipeline would come to it."""
    data = importlib.resources.files("danlu.report").joinpath("published.toml").read_text(encoding="utf-8")
    rows = tomllib.loads(data)["published"]
    lists = ("steps", "without")
    return [Published(**{**row, **{name: tuple(row.get(name, ())) for name in lists}}) for row in rows]


def share_kept(
    funnel: Funnel, steps: Sequence[str], without: Sequence[str] = ()
) -> tuple[float, float] | None:
    """The shares of (documents, bytes as read) that passed these steps, or all but those `without`.

    None where nothing came to one of them.
    """
    passed = funnel.passed()
    documents = texts = 1.0
    for step in steps or [name for name in passed if name not in without]:
        reached, lost = passed.get(step, (None, None))
        if reached is None or lost is None or not reached.documents:
            return None
        documents *= 1 - lost.documents / reached.documents
        texts *= 1 - lost.bytes / max(reached.bytes, 1)
    return documents, texts
