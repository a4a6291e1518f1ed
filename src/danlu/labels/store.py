"""Labels on disk: one JSON line each, with who gave it and when, appended and on the disk before the next is asked for.

Decides: a labeller's last label of a text is the one that stands; one taken back is a line without a label. A document
is known by the hash of its text, so that a corpus built again keeps the labels of what it still holds.
Guarantees: a crash loses at most the label that was being written; a torn line is counted. Costs: one fsync a label.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from danlu.errors import DamagedError, MissingError
from danlu.files import append_line, sync_directory, write_bytes
from danlu.labels.settings import Scale

Value = str | int
VALUES: Mapping[Scale, tuple[Value, ...]] = {"keep": ("drop", "keep"), "0-5": (0, 1, 2, 3, 4, 5)}
"""What may be said on a scale, in its order."""


@dataclass(frozen=True, slots=True)
class Label:
    """What one labeller said of one document."""

    number: int
    """In the ledger of the corpus that it was drawn from."""
    id: str
    domain: str
    text_hash: str
    label: Value | None
    """None: the labeller's earlier label of it is taken back."""
    who: str
    when: str
    """ISO 8601, UTC, seconds."""
    scale: Scale
    prompt: str = ""
    """The hash of the prompt that a model was given."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The lines of a file in their order, and how many more a crash tore."""

    labels: tuple[Label, ...]
    torn: int


class Said(NamedTuple):
    """A text, what its labels come to, and how many they are."""

    text: str
    label: Value | float
    """On the scale keep what most said, on 0-5 the mean."""
    labels: int


@dataclass(frozen=True, slots=True)
class Joined:
    """What all labellers said of the texts that have labels."""

    said: tuple[Said, ...]
    divided: int
    """Texts left out since as many said keep as drop."""


def hash_of(text: str) -> str:
    """What a text is known by: 32 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def add_label(path: Path, label: Label) -> None:
    """Appends a label; when this returns, it is on the disk."""
    is_new = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    append_line(path, asdict(label))
    sync_directory(path)
    if is_new:
        sync_directory(path.parent)


def read_labels(path: Path) -> Stored:
    """All labels of a file; none where there is no file. Raises DamagedError for a line that is no label."""
    if not path.exists():
        return Stored((), 0)
    labels, torn = [], 0
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if not line:
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            torn += 1
            continue
        labels.append(_label(value, f"{path}:{number}"))
    return Stored(tuple(labels), torn)


def _label(value: Any, place: str) -> Label:
    try:
        label = Label(**value)
        known: tuple[Any, ...] = (None, *VALUES[label.scale])
    except (TypeError, KeyError):
        raise DamagedError(f"{place} is no label; remove the line, or the file to label anew") from None
    if label.label not in known or isinstance(label.label, bool):
        raise DamagedError(f"{place}: {label.label!r} is not on the scale {label.scale!r}; remove the line")
    return label


def standing(labels: Iterable[Label], scale: Scale) -> dict[str, dict[str, Label]]:
    """Who -> text hash -> the label that stands, in the order in which they were given."""
    found: dict[str, dict[str, Label]] = {}
    for label in labels:
        if label.scale == scale:
            own = found.setdefault(label.who, {})
            own.pop(label.text_hash, None)
            if label.label is not None:
                own[label.text_hash] = label
    return {who: own for who, own in found.items() if own}


def join_labels(texts: Iterable[str], given: Mapping[str, Mapping[str, Label]], scale: Scale) -> Joined:
    """One label a text out of those of all labellers, in the order of the texts; `given` is as `standing` gives it."""
    found, divided = [], 0
    for text in texts:
        key = hash_of(text)
        values = [own[key].label for own in given.values() if key in own]
        label = _together(values, scale) if values else None
        if label is not None:
            found.append(Said(text, label, len(values)))
        divided += bool(values) and label is None
    return Joined(tuple(found), divided)


def write_examples(path: Path, joined: Joined) -> None:
    """Writes lines of JSON, {"text", "label", "labels"}, to train a classifier on. Raises MissingError for none."""
    if not joined.said:
        raise MissingError(f"there is no label to write to {path}; `danlu corpus label` gives some first")
    lines = [json.dumps(said._asdict(), ensure_ascii=False) + "\n" for said in joined.said]
    write_bytes(path, "".join(lines).encode("utf-8", "backslashreplace"))


def _together(said: list[Value | None], scale: Scale) -> Value | float | None:
    """One label out of several; None where they are evenly divided."""
    if scale == "0-5":
        return fmean(int(value) for value in said if value is not None)
    counts = Counter(said)
    if counts["keep"] == counts["drop"]:
        return None
    return "keep" if counts["keep"] > counts["drop"] else "drop"
