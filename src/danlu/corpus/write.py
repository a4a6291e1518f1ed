"""What a task leaves beside its ledger: the documents that stay, in parts, and lists in compressed lines.

Guarantees: the bytes of a part depend only on the documents and their order. A full disk is a clean error.
Costs: memory one open part (64 MB of text) for each split and domain.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import zstandard

from danlu.files import disk_errors
from danlu.read.store import PART_BYTES, part_path, write_part
from danlu.records import Document


class PartWriter:
    """Collects the documents of each split and domain and writes a part when it is full; `close` writes the rest."""

    def __init__(self, corpus: Path, part_bytes: int = PART_BYTES) -> None:
        self._corpus, self._part_bytes = corpus, part_bytes
        self._open: dict[tuple[str, str], list[Document]] = {}
        self._bytes: Counter[tuple[str, str]] = Counter()
        self._written: Counter[tuple[str, str]] = Counter()

    def add(self, split: str, document: Document, text_bytes: int) -> None:
        """Adds a document of `text_bytes` bytes of UTF-8."""
        key = split, document.domain
        self._open.setdefault(key, []).append(document)
        self._bytes[key] += text_bytes
        if self._bytes[key] >= self._part_bytes:
            self._write(key)

    def close(self) -> None:
        """Writes the parts that are not full."""
        for key, documents in self._open.items():
            if documents:
                self._write(key)

    def _write(self, key: tuple[str, str]) -> None:
        write_part(part_path(self._corpus, *key, self._written[key]), self._open[key])
        self._written[key] += 1
        self._open[key], self._bytes[key] = [], 0


class Lines:
    """A new file of JSON lines (.jsonl.zst), compressed with a checksum and durable at the end of its `with` block.

    It is not atomic by itself: a task writes its note that it is done after it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with disk_errors(path):
            self._file = path.open("wb")
        compressor = zstandard.ZstdCompressor(level=3, write_checksum=True)
        self._stream = compressor.stream_writer(self._file, closefd=False)

    def add(self, value: dict[str, Any]) -> None:
        """Appends one object."""
        with disk_errors(self._path):
            self._stream.write(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        # The file closes inside disk_errors, since closing writes what is left.
        with disk_errors(self._path), self._file:
            self._stream.flush(zstandard.FLUSH_FRAME)
            self._file.flush()
            os.fsync(self._file.fileno())
