"""A run whose corpus is built of pydoc topics and of copies planted among them: equal ones, a chain of near ones."""

from __future__ import annotations

import json
from pathlib import Path
from pydoc_data.topics import topics

from danlu.corpus.build import build_corpus
from danlu.corpus.settings import decisive
from danlu.recipe import parse
from danlu.workflow.run import Run, claim, open_run
from danlu.workflow.stage import Stage, write_manifest

EQUAL = ["import-1", "import-2", "import-3", "import-4"]
"""Texts of `import`, differently wrapped."""

CHAIN = ["strings-1", "strings-2", "strings-3", "strings-4", "strings-5", "strings-6"]
"""`strings` changed again and again: the later, the less like it."""

AGAIN = "strings-3-again"
"""The text of strings-3, which exact deduplication drops for it before minhash drops that."""

SAME_ID = "class"
"""Stands on two different texts."""

TEXTS: dict[str, str] = {
    name: text.strip() for name, text in sorted(topics.items()) if 1_500 < len(text) < 10_000
}


def _changed(text: str, number: int) -> str:
    """The text with one word in 80 changed."""
    words = text.split()
    words[number * 11 :: 80] = [f"{word}{number}" for word in words[number * 11 :: 80]]
    return " ".join(words)


TEXTS |= {name: "\n".join(TEXTS["import"].split(" ", place)) for place, name in enumerate(EQUAL, 1)}
for place, name in enumerate(CHAIN, 1):
    TEXTS[name] = _changed(TEXTS[CHAIN[place - 2] if place > 1 else "strings"], place)
TEXTS[AGAIN] = TEXTS["strings-3"]


def recipe() -> dict:
    """Three steps, several shards, nothing held out."""
    steps = [{"use": "normalize"}, {"use": "exact"}, {"use": "minhash", "min_jaccard": 0.5}]
    corpus = {
        "validation_share": 0.0,
        "shard_bytes": 40_000,
        "source": [{"domain": "topics", "paths": ["topics.jsonl"]}],
        "step": steps,
    }
    return {"name": "copies", "corpus": corpus, "train": {"steps": 1}}


def write_run_with_copies(home: Path) -> Run:
    """runs/copies under `home`, with its corpus."""
    rows = [*TEXTS.items(), (SAME_ID, f"{TEXTS['with']} That was all about it.")]
    lines = [json.dumps({"id": name, "text": text}) for name, text in rows]
    (home / "topics.jsonl").write_text("\n".join(lines))
    run = open_run(parse(recipe()), home, home / "runs")
    run.directory.mkdir(parents=True)
    claim(run)
    corpus = run.directory / "corpus"
    build_corpus(run.recipe.corpus, home, corpus)
    write_manifest(Stage("corpus", corpus, decisive(run.recipe.corpus), {}))
    return run
