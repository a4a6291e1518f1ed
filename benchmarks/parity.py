"""danlu's decisions beside datatrove's, document by document: Gopher quality and repetition, C4 twice, FineWeb.

Reads what peers/datatrove_verdicts.py wrote for the same corpus and decides every document again with words = "spacy".
Equal means: the same documents dropped for the same reason and, for C4, the same text left. Every other document is
listed with both answers; the exit code is 1 where there is one.

Run:  python benchmarks/parity.py CORPUS.jsonl VERDICTS.jsonl [--json EXCEPTIONS.json]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from danlu.rules import c4, fineweb, gopher_quality, gopher_repetition
from danlu.rules.settings import C4, FineWeb, GopherQuality, GopherRepetition
from danlu.words.text import Text

STEPS: dict[str, tuple[Any, Any]] = {
    "gopher_repetition": (gopher_repetition, GopherRepetition()),
    "gopher_quality": (gopher_quality, GopherQuality()),
    "c4": (c4, C4()),
    "c4_fineweb": (c4, C4(filter_no_terminal_punct=False)),
    "fineweb": (fineweb, FineWeb()),
}
"""Columns of the verdicts and what decides them here."""

LISTED = 40
Lines = list[dict[str, Any]]


def read_lines(path: Path) -> Lines:
    """The objects of a jsonl file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def decide(row: dict[str, Any]) -> dict[str, str]:
    """Our line for a document, in the form of the verdicts."""
    text = Text(row["text"], words_setting="spacy")
    line: dict[str, str] = {"id": row["id"]}
    for name, (step, settings) in STEPS.items():
        measured = step.measure(text, settings)
        reason = step.decide(measured.values, settings)
        line[name] = reason
        if name.startswith("c4"):
            left = measured.text.text.encode("utf-8", "surrogatepass")
            line[f"{name}_text"] = "" if reason else hashlib.sha256(left).hexdigest()[:16]
    return line


def differences(ours: dict[str, str], theirs: dict[str, str]) -> list[dict[str, str]]:
    """The columns that differ; "gopher_" in front of a reason of theirs does not count."""
    found = []
    for name, answer in ours.items():
        expected = theirs[name] if name == "id" else theirs[name].removeprefix("gopher_")
        if answer != expected:
            found.append({"id": ours["id"], "step": name, "danlu": answer, "datatrove": expected})
    return found


def main() -> None:
    """Prints the count of equal decisions and lists the others."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("verdicts", type=Path)
    parser.add_argument("--json", type=Path, help="write all exceptions to this file")
    options = parser.parse_args()
    rows, verdicts = read_lines(options.corpus), read_lines(options.verdicts)
    if len(rows) < len(verdicts):
        raise SystemExit(
            f"{options.verdicts} is of another corpus: {len(verdicts)} lines, {len(rows)} documents"
        )
    exceptions: list[dict[str, str]] = []
    dropped: Counter[str] = Counter()
    began = time.process_time()
    for row, theirs in zip(rows, verdicts, strict=False):
        ours = decide(row)
        dropped.update(name for name in STEPS if ours[name])
        exceptions += differences(ours, theirs)
    size = sum(len(row["text"].encode("utf-8", "surrogatepass")) for row in rows[: len(verdicts)]) / 1e6
    print(f"{len(verdicts)} documents, {size:.1f} MB, {time.process_time() - began:.0f} s of processor time")
    unequal = Counter(exception["step"] for exception in exceptions)
    for name in STEPS:
        count = unequal[name] + unequal[f"{name}_text"]
        print(f"  {name:20}{len(verdicts):8} decided, {dropped[name]:6} dropped, {count:5} differ")
    for exception in exceptions[:LISTED]:
        print("  " + json.dumps(exception, ensure_ascii=False))
    if options.json:
        options.json.write_text(json.dumps(exceptions, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.exit(bool(exceptions))


if __name__ == "__main__":
    main()
