"""danlu's side of benchmarks/corpus.py: one case, timed in a process of its own, printed as one JSON object.

The process is new; kernels are compiled, or loaded from numba's cache, on a few lines first: compile_s, not counted
in the rest. danlu memorises nothing about words: the first document costs what the last does. Texts are in memory;
`road` reads its files; with a tokenizer it goes on to token shards, opening the tokenizer included.

Run:  python corpus_tasks.py filters DOCUMENTS.jsonl plain|spacy early|all
      python corpus_tasks.py minhash DOCUMENTS.jsonl EMPTY_FOLDER
      python corpus_tasks.py road FOLDER_OF_JSONL EMPTY_FOLDER WORKERS early|all [TOKENIZER]
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent / "peers"))

from clock import Clock, read_documents

from danlu.corpus.build import build_corpus
from danlu.corpus.settings import CorpusSettings
from danlu.dedup.contract import Alive, open_signer, read_outcome, resolve
from danlu.dedup.settings import MinHash
from danlu.rules import c4, fineweb, gopher_quality, gopher_repetition
from danlu.rules.settings import C4, FineWeb, GopherQuality, GopherRepetition
from danlu.shards.build import build_tokens
from danlu.words.text import Text

CHAIN: tuple[tuple[Any, Any], ...] = (
    (gopher_repetition, GopherRepetition()),
    (gopher_quality, GopherQuality()),
    (c4, C4(filter_no_terminal_punct=False)),
    (fineweb, FineWeb()),
)
"""FineWeb's filters in its order."""

STEPS = [
    {"use": "gopher_repetition"},
    {"use": "gopher_quality"},
    {"use": "c4", "filter_no_terminal_punct": False},
    {"use": "fineweb"},
    {"use": "minhash"},
]
SHARD_BYTES = 5_000_000
PROSE = """\
The river runs down to the old town, and boats that have a sail wait there for the evening wind.
Most of the people with a garden grow beans or apples; some keep bees, which is hard work in a wet summer.
A bridge of grey stone was built by the monks. It still carries carts, and children fish from its arches.
In winter the road is closed for weeks. Letters then come late, but nobody seems to be worried about it.
"""
"""Passes all four filters, so that the few documents that compile the kernels go all the way."""
SMALL = [{"id": str(number), "text": f"Number {number}: {PROSE}"} for number in range(3)]


def passes_chain(text: Text) -> bool:
    """Whether no step drops the text; those after the first that does are not asked."""
    for step, settings in CHAIN:
        measured = step.measure(text, settings)
        if step.decide(measured.values, settings):
            return False
        text = measured.text
    return True


def passes_each(text: Text) -> bool:
    """Whether no step drops the text as it came; all are asked."""
    verdicts = [step.decide(step.measure(text, settings).values, settings) for step, settings in CHAIN]
    return not any(verdicts)


def run_here(task: Callable[[dict[str, Any]], None], arguments: Sequence[dict[str, Any]], _: str) -> None:
    """Runs deduplication tasks one after another in this process."""
    for argument in arguments:
        task(argument)


def filters(rows: list[dict[str, Any]], words: Any, mode: str, clock: Clock) -> int:
    """The four filters; returns how many documents they keep."""
    passes = {"early": passes_chain, "all": passes_each}[mode]
    with clock.stage("filters"):
        return sum(passes(Text(row["text"], words_setting=words)) for row in rows)


def minhash(rows: list[dict[str, Any]], work: Path, clock: Clock) -> int:
    """Signatures, buckets, clusters; returns how many documents stay."""
    settings = MinHash()
    with clock.stage("signatures"):
        signer = open_signer(settings, work, 0, 1)
        for index, row in enumerate(rows):
            signer.add(index, Text(row["text"], words_setting="plain"), False)
        signer.close(len(rows))
    with clock.stage("buckets, clusters"):
        resolve(settings, work, [0], 1, Alive(), run_here)
    with clock.stage("filter"):
        dropped = read_outcome(work, 0).dropped
        return sum(not gone for gone in dropped.tolist())


def road(folder: Path, work: Path, workers: int, how: str, clock: Clock) -> int:
    """Read, filter, deduplicate, write, with the ledger of every document; returns the bytes written.

    "early" measures a document until a rule drops it, as the peer does; "all" by every rule, so that it can be tuned.
    """
    settings = CorpusSettings.model_validate(
        {
            "words": "plain",
            "workers": workers,
            "measure_dropped": how == "all",
            "shard_bytes": SHARD_BYTES,
            "validation_share": 0.0,
            "source": [{"domain": "all", "paths": ["*.jsonl"]}],
            "step": STEPS,
        }
    )
    with clock.stage("road"):
        build_corpus(settings, folder, work / "corpus")
    return sum(path.stat().st_size for path in (work / "corpus").rglob("*") if path.is_file())


def tokens(tokenizer: Path, work: Path, workers: int, clock: Clock) -> int:
    """The corpus as token shards; returns how many tokens. The tokenizer is opened here, so that its checks count."""
    with clock.stage("tokens"):
        built = build_tokens(tokenizer, work / "corpus", work / "tokens", workers)
    return built.tokens("train")


def small_road(work: Path, tokenizer: Path | None) -> None:
    """A build of a few documents, which compiles what a build needs."""
    (work / "small").mkdir(parents=True)
    lines = [json.dumps(row) for row in SMALL]
    (work / "small" / "few.jsonl").write_text("\n".join(lines), encoding="utf-8")
    road(work / "small", work / "small-road", 1, "all", Clock())
    if tokenizer:
        # A copy: what is kept of an opened tokenizer shall not serve the measurement.
        copied = shutil.copy(tokenizer, work / "small")
        tokens(Path(copied), work / "small-road", 1, Clock())


def main() -> None:
    """Compiles, times the case, prints it."""
    case, source, first, *rest = sys.argv[1:]
    rows = [] if case == "road" else read_documents(source)
    tokenizer = Path(rest[2]) if case == "road" and len(rest) > 2 else None
    clock, warming, found = Clock(), Clock(), {}
    with warming.stage("compile"):
        if case == "filters":
            filters(SMALL, first, "all", Clock())
        elif case == "minhash":
            minhash(SMALL, Path(first) / "small", Clock())
        else:
            small_road(Path(first), tokenizer)
    if case == "filters":
        found["kept"] = filters(rows, first, rest[0], clock)
    elif case == "minhash":
        found["kept"] = minhash(rows, Path(first) / "sample", clock)
    else:
        found["written_bytes"] = road(Path(source), Path(first), int(rest[0]), rest[1], clock)
        if tokenizer:
            found["tokens"] = tokens(tokenizer, Path(first), int(rest[0]), clock)
    clock.report("danlu", compile_s=warming.cpu_s, **found)


if __name__ == "__main__":
    main()
