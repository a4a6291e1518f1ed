"""Documents of a domain that belong together, as the files of a repository do, joined into long ones before encoding.

Decides: documents with the same value of a metadata field, or under the same folder, become one, in order of source and
start, with an empty line in between; a joined text ends at 16 MB, and what is left begins another; a document without
the value stays as it is and is counted. The split of training and validation was made before: only documents of one
split are joined. Guarantees: the same parts give the same bytes; a joined document names its parts. Costs: two passes
over the domain's text, its size on disk meanwhile; memory of one joined text and the names of 1/64 of the documents.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from glob import has_magic
from itertools import groupby
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from danlu.files import TEMPORARY, disk_errors, write_json
from danlu.read.store import PART_BYTES, read_part, write_part
from danlu.records import Document
from danlu.rng import hash_text

FOLDER = "folder"
"""Join what lies in the same folder, instead of by a metadata field."""

PARTS = "parts"
"""Metadata of a joined document: its parts as JSON, [[id, source, start, end, bytes], ...] in their order."""

SEPARATOR = "\n\n"
_MOST_BYTES = 16_000_000
_MOST_BUCKETS = 64
_EXPANDS = 4
"""Parts are compressed."""

_Row = tuple[str, str, int, str, int, str, int, int]
"""Value, source, start, id, end, group of a document; and where its text begins in the bucket, in how many bytes."""


@dataclass(frozen=True, slots=True)
class Joined:
    """How many documents were joined into how many, how many have no value, and the parts that came of it."""

    documents: int
    joined: int
    alone: int
    parts: int


def folder_roots(patterns: Sequence[str], base: Path) -> list[str]:
    """Where the folders of a source's globs begin: what stands before the first wildcard, as sources are named."""
    return [_root(pattern, base) for pattern in patterns]


def join_domain(argument: dict[str, Any]) -> None:
    """The task. `argument`: parts, field, roots, directory, facts.

    Writes the parts of the joined domain into `directory`, and its counts last, into the file `facts`.
    """
    directory, parts = Path(argument["directory"]), [Path(part) for part in argument["parts"]]
    shutil.rmtree(directory, ignore_errors=True)
    with disk_errors(directory):
        directory.mkdir(parents=True)
    value_of = partial(_value, field=argument["field"], roots=argument["roots"])
    counts = {"documents": 0, "joined": 0, "alone": 0}
    with ExitStack() as stack:
        spill = _Spill(directory, sum(part.stat().st_size for part in parts), stack)
        written = _write_parts(directory, _join(parts, value_of, spill, counts))
    write_json(Path(argument["facts"]), {"key": argument["key"], **asdict(Joined(**counts, parts=written))})


def _join(parts: Sequence[Path], value_of: Any, spill: _Spill, counts: dict[str, int]) -> Iterator[Document]:
    for part in parts:
        for document in read_part(part):
            value = value_of(document)
            counts["documents" if value else "alone"] += 1
            if value:
                spill.add(value, document)
            else:
                yield document
    for rows, texts in spill.buckets():
        for value, members in groupby(rows, key=itemgetter(0)):
            for number, run in enumerate(_runs(members), 1):
                counts["joined"] += 1
                yield _joined(value, number, run, texts)


def _value(document: Document, field: str, roots: Sequence[str]) -> str:
    """What a document is joined by; "" where it has none."""
    if field != FOLDER:
        return str(document.metadata.get(field, ""))
    inside = [root for root in roots if not root or document.source.startswith(f"{root}/")]
    if not inside:
        return ""
    root = max(inside, key=len)
    top, slash, _ = document.source[len(root) + 1 if root else 0 :].partition("/")
    if not slash:
        return ""
    return f"{root}/{top}" if root else top


def _root(pattern: str, base: Path) -> str:
    path = PurePosixPath(pattern)
    if path.is_absolute() and path.is_relative_to(base):
        path = path.relative_to(base)
    literal: list[str] = []
    for name in path.parts:
        if has_magic(name):
            break
        literal.append(name)
    else:
        # A folder or file that is named whole: what lies beside it has folders of its own.
        literal = literal[:-1]
    return "" if not literal else PurePosixPath(*literal).as_posix()


class _Spill:
    """Documents on disk in buckets by the hash of their value, so that one bucket at a time is sorted."""

    def __init__(self, directory: Path, size: int, stack: ExitStack) -> None:
        count = min(_MOST_BUCKETS, 1 + _EXPANDS * size // PART_BYTES)
        self._names = [directory / f"{TEMPORARY}bucket-{number:03d}" for number in range(count)]
        with disk_errors(directory):
            self._texts = [stack.enter_context(name.open("w+b")) for name in self._names]
            self._rows = [
                stack.enter_context(name.with_suffix(".jsonl").open("w+", encoding="utf-8"))
                for name in self._names
            ]
        for name in self._names:
            stack.callback(name.unlink, missing_ok=True)
            stack.callback(name.with_suffix(".jsonl").unlink, missing_ok=True)

    def add(self, value: str, document: Document) -> None:
        number = hash_text(value) % len(self._names)
        text = document.text.encode()
        with disk_errors(self._names[number]):
            place = self._texts[number].tell()
            self._texts[number].write(text)
            row = (value, document.source, document.start, document.id, document.end, document.group)
            self._rows[number].write(json.dumps([*row, place, len(text)]) + "\n")

    def buckets(self) -> Iterator[tuple[list[_Row], BinaryIO]]:
        """The rows of one bucket after the other, sorted, with the file of its texts."""
        for rows, texts in zip(self._rows, self._texts, strict=True):
            with disk_errors(Path(rows.name)):
                rows.seek(0)
                texts.flush()
            yield sorted(tuple(json.loads(line)) for line in rows), texts


def _runs(rows: Iterable[_Row]) -> Iterator[list[_Row]]:
    """Rows of one value in lists whose joined text is bounded."""
    run: list[_Row] = []
    size = 0
    for row in rows:
        if run and size + len(SEPARATOR) + row[-1] > _MOST_BYTES:
            yield run
            run, size = [], 0
        size += row[-1] + (len(SEPARATOR) if run else 0)
        run.append(row)
    if run:
        yield run


def _joined(value: str, number: int, run: Sequence[_Row], texts: BinaryIO) -> Document:
    """The document number 1, 2, ... of a value."""
    name = f"joined:{value}" if number == 1 else f"joined/{number}:{value}"
    pieces, parts = [], []
    for _, source, start, part, end, _, place, size in run:
        texts.seek(place)
        pieces.append(texts.read(size).decode())
        parts.append([part, source, start, end, size])
    metadata: Mapping[str, str] = {PARTS: json.dumps(parts, ensure_ascii=False, separators=(",", ":"))}
    text = SEPARATOR.join(pieces)
    return Document(name, text, value, "", value, 0, len(text.encode()), metadata=metadata)


def _write_parts(directory: Path, documents: Iterable[Document]) -> int:
    """Parts as the corpus has them; how many there are."""
    part: list[Document] = []
    size = written = 0
    for document in documents:
        part.append(document)
        size += len(document.text.encode())
        if size >= PART_BYTES:
            write_part(joined_part(directory, written), part)
            part, size, written = [], 0, written + 1
    if part:
        write_part(joined_part(directory, written), part)
        written += 1
    return written


def joined_part(directory: Path, number: int) -> Path:
    """Where a part of a joined domain lies until its shard is made."""
    return directory / f"part-{number:05d}.parquet"
