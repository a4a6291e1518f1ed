"""A question with its answers as one document: title, question, answers in the order in which they are ranked.

Decides: sections are headed by the title, and by "Answer 1", "Answer 2" ... below it; bodies are turned from HTML into
text by post_html.py. Guarantees: the result depends on the thread alone. Costs: post_html.py.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from danlu.dumps.post_html import to_text
from danlu.extract.section import Extracted, Section


def pack(title: str, question: str, answers: Sequence[str]) -> bytes:
    """A thread of HTML bodies as `extract` reads it: JSON."""
    value = {"title": title, "question": question, "answers": [*answers]}
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def extract(markup: bytes) -> Extracted:
    """The sections of a packed thread; a body without text gives none. Raises ValueError where it is no thread."""
    thread = json.loads(markup)
    title = " ".join(thread["title"].split())
    head = (title,) if title else ()
    found = [Section(head, to_text(thread["question"]))]
    for place, body in enumerate(thread["answers"], start=1):
        found.append(Section((*head, f"Answer {place}"), to_text(body)))
    return Extracted(tuple(section for section in found if section.text))
