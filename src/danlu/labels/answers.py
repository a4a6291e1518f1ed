"""What a model has answered, and what that has cost: one JSON line a question, on the disk before its label is stored.

Decides: a question is the model, the words sent and the length allowed for the answer; one that has an answer is never
put again. The cap holds over the whole file: a question is put only where its dearest case fits, and one whose answer
never came, or is none, counts as that. Guarantee: what is stored holds no key. Costs: the answers in memory; one fsync
a question.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from pathlib import Path

from danlu.errors import DamagedError
from danlu.files import append_line, digest, sync_directory
from danlu.labels.settings import Endpoint

_MESSAGE_TOKENS = 64
"""What a server may add around a message."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one question or of many."""

    sent: int = 0
    received: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.sent + other.sent, self.received + other.received)

    def __sub__(self, other: Usage) -> Usage:
        return Usage(self.sent - other.sent, self.received - other.received)

    def cost(self, settings: Endpoint) -> float:
        """In the unit of the prices."""
        return (self.sent * settings.input_price + self.received * settings.output_price) / 1e6


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; `cut_off`: at the length allowed, or by the server's own rules."""

    text: str
    cut_off: bool
    usage: Usage


def question_key(settings: Endpoint, words: str) -> str:
    """What a question is known by."""
    return digest([settings.model, words, settings.max_answer_tokens])


def dearest(settings: Endpoint, words: str) -> Usage:
    """More than a question can cost: no token is shorter than a byte."""
    return Usage(len(words.encode("utf-8", "replace")) + _MESSAGE_TOKENS, settings.max_answer_tokens)


class Answers:
    """The answers of a file; `reserve` and `add` may be called by several threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[str, Answer] = {}
        self._reserved = Usage()
        self.spent = Usage()
        """By all questions of the file."""
        self.torn = 0
        """Lines that a crash tore; their questions are put again."""
        for number, line in enumerate(path.read_bytes().split(b"\n") if path.exists() else (), 1):
            if line:
                self._read(line, f"{path}:{number}")

    def find(self, key: str) -> Answer | None:
        """The answer to a question, where there is one."""
        return self._known.get(key)

    def reserve(self, most: Usage, settings: Endpoint) -> bool:
        """Sets aside what a question may cost; False where that would pass a cap."""
        with self._lock:
            after = self.spent + self._reserved + most
            if after.sent + after.received > settings.max_tokens:
                return False
            if settings.max_cost is not None and after.cost(settings) > settings.max_cost:
                return False
            self._reserved += most
            return True

    def add(self, key: str, most: Usage, answer: Answer) -> None:
        """Stores an answer in place of what was reserved for it."""
        row = {"key": key, "answer": answer.text, "cut_off": answer.cut_off}
        self._store(row, most, answer.usage)
        with self._lock:
            self._known[key] = answer

    def lose(self, key: str, most: Usage) -> None:
        """A question was put and no answer came of it: what was reserved for it counts as spent."""
        self._store({"key": key, "answer": None, "cut_off": True}, most, most)

    def release(self, most: Usage) -> None:
        """Sets free what was reserved for a question that cost nothing."""
        with self._lock:
            self._reserved -= most

    def _store(self, row: dict[str, object], most: Usage, usage: Usage) -> None:
        with self._lock:
            append_line(self._path, {**row, "sent": usage.sent, "received": usage.received})
            sync_directory(self._path)
            self._reserved -= most
            self.spent += usage

    def _read(self, line: bytes, place: str) -> None:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            self.torn += 1
            return
        try:
            usage = Usage(int(row["sent"]), int(row["received"]))
            if row["answer"] is not None:
                self._known[row["key"]] = Answer(row["answer"], bool(row["cut_off"]), usage)
        except (TypeError, KeyError, ValueError):
            raise DamagedError(
                f"{place} is no answer; remove the line, which puts its question again"
            ) from None
        self.spent += usage
