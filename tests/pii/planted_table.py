"""The table of planted personal data: reading it, and scoring finders on it by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

LISTS = {
    "en": "Jane Smith\nSmith\nO'Brien\nGrace\nJean-Luc\nMüller\n",
    "zh": "张伟\n王小明\n欧阳娜娜 # a comment\n",
}
"""The lists of names that the table's sentences are made for."""


class Item(NamedTuple):
    """A sentence of the table: its kind, its text, and the items of the kind in it as [start, end)."""

    kind: str
    text: str
    spans: frozenset[tuple[int, int]]


class Score(NamedTuple):
    """What was found of a kind: rightly, by mistake, not at all."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        """The share of what was found that is planted."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        """The share of what is planted that was found."""
        return self.right / max(1, self.right + self.missed)


def read_table() -> list[Item]:
    """All sentences, marks taken out."""
    lines = Path(__file__).with_name("planted.txt").read_text(encoding="utf-8").splitlines()
    return [read_line(line) for line in lines if line and not line.startswith("#")]


def read_line(line: str) -> Item:
    """One line of the table."""
    kind, _, marked = line.replace("¦", "").partition("\t")
    marked = marked.replace("\\n", "\n")
    text, spans = "", []
    for number, part in enumerate(marked.replace("⟧", "⟦").split("⟦")):
        if number % 2:
            spans.append((len(text), len(text) + len(part)))
        text += part
    return Item(kind, text, frozenset(spans))


def score_table(
    items: list[Item], find: Callable[[str], set[tuple[int, int, str]]]
) -> tuple[dict[str, Score], list[str]]:
    """Scores by kind, and a line for each mistake. What is found of another kind than the sentence's is a mistake of
    that kind only where it is in no planted item."""
    right, wrong, missed, mistakes = Counter[str](), Counter[str](), Counter[str](), []
    for item in items:
        found = find(item.text)
        own = {(start, end) for start, end, kind in found if kind == item.kind}
        right[item.kind] += len(own & item.spans)
        missed[item.kind] += len(item.spans - own)
        wrong[item.kind] += len(own - item.spans)
        mistakes += [
            f"{item.kind} missed: {item.text!r} {item.text[slice(*span)]!r}" for span in item.spans - own
        ]
        mistakes += [
            f"{item.kind} wrong: {item.text!r} {item.text[slice(*span)]!r}" for span in own - item.spans
        ]
        for start, end, kind in found:
            if kind != item.kind:
                wrong[kind] += 1
                mistakes.append(f"{kind} wrong: {item.text!r} {item.text[start:end]!r}")
    return {
        kind: Score(right[kind], wrong[kind], missed[kind]) for kind in {*right, *wrong, *missed}
    }, mistakes
