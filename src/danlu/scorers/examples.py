"""Examples to train a scorer on: labelled rows of JSONL and CSV files, or plain texts of two sides.

Decides: a label is a word or number of one column, or several columns of 0 and 1 of which any makes a positive (as
Jigsaw's CSV has them, whose -1 is no label); a text file's paragraphs are its documents. Equal texts count once, with
the first label. What is held out is told by the hash of the text, so that more examples move none across. Guarantees:
every row that is left out is counted by its reason; files are read in the order of their names. Costs: all texts are
held in memory.
"""

from __future__ import annotations

import csv
import glob
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from danlu.errors import InputError
from danlu.extract.lines import read_lines, without_compression
from danlu.rng import hash_text

POSITIVE = frozenset(["1", "true", "yes", "y", "keep", "positive"])
NEGATIVE = frozenset(["0", "false", "no", "n", "drop", "negative"])
"""Labels that need no explanation."""
HIGHEST = 5.0
_HALF = 0.5
_MOST_FIELD_CHARACTERS = 10_000_000
_NAMED = 8
_HELD_OUT_SEED = 0x5C02E
_DOCUMENTS = ("jsonl", "csv", "txt")

Floats = npt.NDArray[np.float64]
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns of a row hold the text and the labels, and which labels are positive."""

    text: str = "text"
    labels: tuple[str, ...] = ("label",)
    """Several: a positive where any of them is."""
    positive: tuple[str, ...] = ()
    """Labels that are positive, all others being negative; empty: 1, true, yes, keep and their opposites are known."""
    scale: Literal["binary", "0-5"] = "binary"


class Source(NamedTuple):
    """A file's name without its folder, and how many examples were read from it."""

    name: str
    examples: int


@dataclass(frozen=True, slots=True)
class Examples:
    """n texts that differ, with (n,) labels: 0 and 1, or 0 to 5."""

    texts: tuple[str, ...]
    labels: Floats
    sources: tuple[Source, ...]
    left_out: dict[str, int]
    """Reason -> rows: no_text, no_label, unknown_label, malformed, duplicate, conflicting."""


def read_labelled(patterns: Sequence[str], columns: Columns) -> Examples:
    """The labelled rows of the files (.jsonl, .csv; also .gz, .bz2, .zst) that match the globs.

    Raises InputError where a glob matches nothing, a file cannot be read or lacks a column, or no label is understood.
    """
    gathered = _Gathered()
    for path in find_files(patterns):
        if _kind(path) == "txt":
            raise InputError(f"{path} has no labels: give it as examples of one side, or as .jsonl or .csv")
        for row in _read_rows(path, gathered):
            _add_row(gathered, row, columns)
        gathered.end_file(path, (columns.text, *columns.labels))
    if not gathered.texts and gathered.unknown:
        raise InputError(
            f"none of the labels ({', '.join(map(repr, list(gathered.unknown)[:_NAMED]))}) is understood: "
            f"say which are positive"
        )
    return gathered.examples()


def read_sides(positive: Sequence[str], negative: Sequence[str], text: str = "text") -> Examples:
    """All texts of files of positives, labelled 1, and of negatives, labelled 0; errors as `read_labelled`."""
    gathered = _Gathered()
    for label, patterns in ((1.0, positive), (0.0, negative)):
        for path in find_files(patterns):
            if _kind(path) == "txt":
                for paragraph in _read_paragraphs(path):
                    gathered.add(paragraph, label)
            else:
                for row in _read_rows(path, gathered):
                    gathered.add(row.get(text), label)
            gathered.end_file(path, (text,))
    return gathered.examples()


def is_held_out(texts: Sequence[str], share: float) -> npt.NDArray[np.bool_]:
    """(n,) whether each text is among the share that no scorer is trained on, by its hash alone."""
    limit = int(share * 2.0**64)
    return np.array([hash_text(text, _HELD_OUT_SEED) < limit for text in texts], np.bool_)


def find_files(patterns: Sequence[str]) -> list[Path]:
    """The files of the globs, sorted, each once. Raises InputError where one matches none."""
    found: dict[Path, None] = {}
    for pattern in patterns:
        # Path.glob takes no absolute pattern.
        names = sorted(glob.glob(str(Path(pattern).expanduser()), recursive=True))  # noqa: PTH207
        paths = [path for path in map(Path, names) if path.is_file()]
        if not paths:
            raise InputError(f"no file matches {pattern!r}: correct the pattern")
        found.update(dict.fromkeys(paths))
    return list(found)


class _Gathered:
    """Examples as they are found, and what was left out."""

    def __init__(self) -> None:
        self.texts: dict[str, float] = {}
        self.sources: list[Source] = []
        self.left_out: Counter[str] = Counter()
        self.unknown: dict[str, None] = {}
        self.columns: dict[str, None] = {}
        self._before = 0

    def add(self, text: Any, label: float) -> None:
        """One example, unless it has no text or is known."""
        if not isinstance(text, str) or not text.strip():
            self.left_out["no_text"] += 1
        elif text in self.texts:
            self.left_out["duplicate" if self.texts[text] == label else "conflicting"] += 1
        else:
            self.texts[text] = label

    def end_file(self, path: Path, wanted: Sequence[str]) -> None:
        """Notes what a file gave. Raises InputError where columns that are wanted are in none of its rows."""
        missing = [name for name in wanted if self.columns and name not in self.columns]
        if missing:
            raise InputError(
                f"{path} has no column {', '.join(map(repr, missing))}; it has {', '.join(self.columns)}"
            )
        self.sources.append(Source(path.name, len(self.texts) - self._before))
        self._before = len(self.texts)
        self.columns = {}

    def examples(self) -> Examples:
        """All of it. Raises InputError where there is none."""
        if not self.texts:
            left = ", ".join(f"{count} {reason}" for reason, count in sorted(self.left_out.items()))
            raise InputError(f"no example was found{f' ({left})' if left else ''}")
        labels = np.array(list(self.texts.values()), np.float64)
        return Examples(tuple(self.texts), labels, tuple(self.sources), dict(sorted(self.left_out.items())))


def _add_row(gathered: _Gathered, row: Row, columns: Columns) -> None:
    values = [_plain(row.get(name)) for name in columns.labels]
    if columns.scale == "0-5":
        labels = [_number(value) for value in values]
        usable = [label for label in labels if label is not None and 0.0 <= label <= HIGHEST]
        found = sum(usable) / len(usable) if usable and len(usable) == len(labels) else None
    else:
        sides = [_side(value, columns) for value in values]
        found = max((side for side in sides if side is not None), default=None) if None not in sides else None
    if found is not None:
        gathered.add(row.get(columns.text), found)
    elif not any(values):
        gathered.left_out["no_label"] += 1
    else:
        gathered.left_out["unknown_label"] += 1
        gathered.unknown.update(dict.fromkeys(value for value in values if value))


def _plain(value: Any) -> str:
    """A label as text: "" for none, "1" for 1, 1.0 and true."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip() if isinstance(value, (str, int, float)) else ""


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _side(value: str, columns: Columns) -> float | None:
    """1 or 0; None where it is not known which."""
    number = _number(value)
    if not value or (number is not None and number < 0):
        return None
    if columns.positive:
        return float(value in columns.positive)
    if value.lower() in POSITIVE | NEGATIVE:
        return float(value.lower() in POSITIVE)
    return float(number >= _HALF) if number is not None and number <= 1 else None


def _kind(path: Path) -> str:
    kind = without_compression(path).suffix.removeprefix(".").lower()
    if kind not in _DOCUMENTS:
        raise InputError(f"{path}: examples are read from .jsonl, .csv and .txt, also .gz, .bz2 and .zst")
    return kind


def _read_rows(path: Path, gathered: _Gathered) -> Iterator[Row]:
    for row in _read_csv(path) if _kind(path) == "csv" else _read_jsonl(path):
        if row is None:
            gathered.left_out["malformed"] += 1
        else:
            gathered.columns.update(dict.fromkeys(row))
            yield row


def _read_jsonl(path: Path) -> Iterator[Row | None]:
    for line in read_lines(path):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            yield None
            continue
        yield value if isinstance(value, dict) else None


def _read_csv(path: Path) -> Iterator[Row | None]:
    # The parser's own limit is below the length of a long text.
    csv.field_size_limit(_MOST_FIELD_CHARACTERS)
    try:
        for row in csv.DictReader(read_lines(path), strict=True):
            has_all = None not in row and None not in row.values()
            yield row if has_all else None
    except csv.Error as error:
        raise InputError(f"{path} is no CSV file ({error}); write it anew, or as .jsonl") from error


def _read_paragraphs(path: Path) -> Iterator[str]:
    paragraph: list[str] = []
    for line in read_lines(path):
        if line.strip():
            paragraph.append(line)
        elif paragraph:
            yield "".join(paragraph).strip()
            paragraph = []
    if paragraph:
        yield "".join(paragraph).strip()
