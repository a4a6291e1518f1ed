"""Personal data in a document: masked with placeholders, counted, or a reason to drop it; a step on one document.

Decides: what is personal data is `find.py`'s; this says what happens to it. The text alone is masked: what is said
beside it (title, url) stays, and so do the beginnings that the ledger keeps of documents which an earlier step dropped.
Guarantees: the text keeps all that is not masked, code point for code point; placeholders are found by no finder.
Costs: that of finding; texts without items go on as they are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from danlu.pii.find import find
from danlu.pii.names import forget_files, load_names
from danlu.pii.settings import KINDS, Pii
from danlu.pii.view import Item
from danlu.words.text import Measured, Text

__all__ = ["MEASURES", "REMEASURE", "REWRITES", "decide", "forget_files", "mask", "measure"]

MEASURES: tuple[str, ...] = ("items", *KINDS)
REWRITES = True
REMEASURE = frozenset({"action"})
"""What `decide` reads too, but a change of which changes what is rewritten."""


def measure(text: Text, settings: Pii) -> Measured:
    """Items in all and of each kind, not a number for kinds that are not looked for; the text masked where so set.

    Raises InputError for a list of names that cannot be used.
    """
    names = load_names(settings.names, text.language) if settings.names else None
    items = find(text, settings.kinds, names)
    looked_for = set(settings.kinds) - (set() if names else {"name"})
    counts = Counter(item.kind for item in items)
    values = (float(len(items)), *(float(counts[kind]) if kind in looked_for else math.nan for kind in KINDS))
    if settings.action == "mask" and items:
        return Measured(text.with_text(mask(text.text, items, settings)), values)
    return Measured(text, values)


def decide(values: Sequence[float], settings: Pii) -> str:
    """Whether a document has so many items that it goes."""
    return "personal_data" if settings.action == "drop" and values[0] > settings.max_items else ""


def mask(text: str, items: Sequence[Item], settings: Pii) -> str:
    """The text with each item's placeholder in its place. Items are in order and apart."""
    parts, done = [], 0
    for item in items:
        parts += [text[done : item.start], settings.placeholder(item.kind)]
        done = item.end
    return "".join([*parts, text[done:]])
