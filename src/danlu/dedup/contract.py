"""What the engine calls, whatever the deduplication step: sign every shard, resolve once, read every shard's outcome.

Decides: which module does which step. Guarantees: outcomes are a function of settings and documents alone, never of the
number of ranges, of workers or of the order of tasks; every task may be killed and run again. Costs: nothing itself.

    with a directory of its own for each step (`work`), for each shard, anywhere:
        signer = open_signer(settings, work, shard, ranges); signer.add(...) ...; signer.close(documents)
    once, after all: resolve(settings, work, shards, ranges, Alive(works of earlier steps), run, references)
    for each shard, anywhere: read_outcome(work, shard), apply_cuts(text, outcome.cuts[index])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from danlu.dedup.settings import Exact, MinHash, SharedStep, Substrings
from danlu.words.text import Text

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float32]
Longs = npt.NDArray[np.int64]

Run = Callable[[Callable[[dict[str, Any]], None], Sequence[dict[str, Any]], str], None]
"""(function, JSON arguments, title): calls a module-level function once per argument, anywhere, and waits for all."""

Spans = list[tuple[int, int]]
"""Code points [start, end), in order, apart from each other."""


class Signer(Protocol):
    """Takes a shard's documents in the order of their index and leaves its signatures under `work`."""

    def add(self, index: int, text: Text, held_out: bool) -> None:
        """One document that earlier steps kept; those they dropped are left out."""

    def close(self, documents: int) -> None:
        """Writes the shard's files, whole; `documents` is how many the shard has, left out ones too."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step says of a shard's n documents. Document number = shard << 32 | index."""

    dropped: Bools
    """(n,)"""
    match: Longs
    """(n,) the number of the copy that stays; -1 where the document is not dropped."""
    pair: Longs
    """(n,) the number of the document that it was compared with: the one that stays where that was, else a nearest."""
    similarity: Floats
    """(n,) Jaccard of document and `pair` in [0, 1], 1 for equal ones; NaN where the document is not dropped."""
    cuts: dict[int, Spans]
    """index -> what to remove, for documents that lose something; a document may lose everything."""


@dataclass(frozen=True, slots=True)
class Alive:
    """Which documents the earlier steps of the same round left."""

    before: tuple[Path, ...] = ()
    """The `work` directories of those steps, resolved; who is dropped in none of them is alive."""


def suggest_ranges(settings: SharedStep, text_bytes: int) -> int:
    """Into how many ranges a corpus of so many bytes is divided so that a task needs some 1-2 GB of memory."""
    if isinstance(settings, MinHash):
        share = 4 << 30
    elif isinstance(settings, Substrings):
        share = 100 << 20
    else:
        share = 2 << 30 if isinstance(settings, Exact) and settings.unit == "document" else 500 << 20
    return max(1, -(-text_bytes // share))


def open_signer(settings: SharedStep, work: Path, shard: int, ranges: int) -> Signer:
    """The signer of one shard. `ranges`: into how many parts of bounded size the step is divided, the same for all."""
    if isinstance(settings, MinHash):
        from danlu.dedup.minhash import MinHashSigner

        return MinHashSigner(settings, work, shard, ranges)
    if isinstance(settings, Substrings):
        from danlu.dedup.substrings import WindowSigner

        return WindowSigner(settings, work, shard, ranges)
    if isinstance(settings, Exact) and settings.unit == "document":
        from danlu.dedup.repeats import DocumentSigner

        return DocumentSigner(settings, work, shard, ranges)
    from danlu.dedup.repeats import PieceSigner

    return PieceSigner(settings, work, shard, ranges)


def resolve(
    settings: SharedStep,
    work: Path,
    shards: Sequence[int],
    ranges: int,
    alive: Alive,
    run: Run,
    references: Sequence[int] = (),
) -> None:
    """Compares the signatures of all shards and leaves an outcome for each.

    `references`: signed shards of earlier corpora; they have no outcome, and what is like them goes. Raises
    MismatchError where a shard was signed with other settings, DamagedError where a file is not whole.
    """
    from danlu.dedup.plan import Plan, finished, write_plan

    if not {*shards}.isdisjoint(references):
        raise ValueError(
            f"shards {sorted({*shards} & {*references})} are of this corpus and of an earlier one"
        )
    plan = Plan(settings, work, tuple(sorted(shards)), tuple(sorted(references)), ranges, alive.before)
    if finished(plan):
        return
    write_plan(plan)
    if isinstance(settings, MinHash):
        from danlu.dedup.clusters import resolve_clusters

        resolve_clusters(plan, run)
    elif isinstance(settings, Substrings):
        from danlu.dedup.substrings import resolve_windows

        resolve_windows(plan, run)
    else:
        from danlu.dedup.repeats import resolve_repeats

        resolve_repeats(plan, run)


def read_outcome(work: Path, shard: int) -> Outcome:
    """What the step resolved in `work` says of one shard."""
    from danlu.dedup.plan import load_outcome

    return load_outcome(work, shard)


def apply_cuts(text: str, cuts: Spans) -> str:
    """The text without the spans; of the white space on both sides of a cut the part with more line breaks stays.

    So words stay apart and paragraphs whole. White space at the ends goes where anything is cut.
    """
    if not cuts:
        return text
    kept: list[str] = []
    gap, position = "", 0
    for start, end in [*cuts, (len(text), len(text))]:
        piece = text[position:start]
        position = end
        body = piece.lstrip()
        gap = max(gap, piece[: len(piece) - len(body)], key=lambda space: (space.count("\n"), len(space)))
        stripped = body.rstrip()
        if stripped:
            kept += [gap, stripped] if kept else [stripped]
            gap = body[len(stripped) :]
    return "".join(kept)
