"""What datatrove decides about every document, and why: one JSON line a document, for a comparison of decisions.

Each filter gets the original text. The line holds the id and, for each filter, "" (kept), the reason, or "error:NAME"
where it raises; C4 stands there with and without its rule of terminal punctuation, each with the hash of the text that
it leaves.
Run by the peer's Python:  python datatrove_verdicts.py DOCUMENTS.jsonl OUTPUT.jsonl
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from clock import read_documents
from datatrove.data import Document
from datatrove.pipeline.filters import (
    C4QualityFilter,
    FineWebQualityFilter,
    GopherQualityFilter,
    GopherRepetitionFilter,
)
from datatrove_filters import LANGUAGE


def verdict(step: Any, row: dict[str, Any]) -> tuple[str, str]:
    """The reason ("" where kept) and the hash of the text that is left ("" where dropped)."""
    document = Document(text=row["text"], id=row["id"])
    try:
        result = step.filter(document)
    except Exception as error:
        return f"error:{type(error).__name__}", ""
    if result is True:
        return "", hashlib.sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return (result[1] if isinstance(result, tuple) else "dropped"), ""


def main() -> None:
    """Writes all lines."""
    steps = {
        "gopher_repetition": GopherRepetitionFilter(language=LANGUAGE),
        "gopher_quality": GopherQualityFilter(language=LANGUAGE),
        "c4": C4QualityFilter(language=LANGUAGE),
        "c4_fineweb": C4QualityFilter(filter_no_terminal_punct=False, language=LANGUAGE),
        "fineweb": FineWebQualityFilter(language=LANGUAGE),
    }
    with Path(sys.argv[2]).open("w", encoding="utf-8") as output:
        for row in read_documents(sys.argv[1]):
            line: dict[str, Any] = {"id": row["id"]}
            for name, step in steps.items():
                reason, text = verdict(step, row)
                line[name] = reason
                if name.startswith("c4"):
                    line[f"{name}_text"] = text
            output.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
