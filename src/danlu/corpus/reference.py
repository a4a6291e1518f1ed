"""Earlier corpora: signed like the corpus itself, compared with, never written.

Guarantees: idempotent: the note that a shard is signed is written last; what of an earlier corpus could not be read is
counted and listed as any other damage. Costs: those of reading and signing; memory as in dedup/.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from danlu.corpus.job import Job, earlier_corpora, load_job
from danlu.corpus.settings import name_of
from danlu.corpus.write import Lines
from danlu.dedup.contract import open_signer
from danlu.dedup.settings import Exact, MinHash
from danlu.files import disk_errors, read_json, write_json
from danlu.formats.raw import Damage
from danlu.read.shards import read_shard
from danlu.words.text import Text


def sign_reference(argument: dict[str, Any]) -> None:
    """The task that signs a shard of an earlier corpus. `argument`: work, name (of the step), shard."""
    job = load_job(Path(argument["work"]))
    name, number = argument["name"], int(argument["shard"])
    note = _note(job, name, number)
    if note.is_file():
        return
    step = next(step for step in job.settings.step if name_of(step) == name)
    assert isinstance(step, (Exact, MinHash))
    shard = next(shard for shard in job.references[name] if shard.number == number)
    signer = open_signer(step, job.dedup_place(name), number, job.ranges(name, step))
    with disk_errors(note):
        note.parent.mkdir(parents=True, exist_ok=True)
    damages: Counter[str] = Counter()
    count = 0
    with Lines(damages_of(note)) as lines:

        def damaged(damage: Damage) -> None:
            damages[damage.reason] += 1
            lines.add(asdict(damage))

        source, limit = earlier_corpora(step), job.settings.max_document_bytes
        for document in read_shard(shard, [source], job.base, limit, damaged):
            # A corpus of danlu says its documents' languages, which choose the splitter there and here.
            language = document.language or document.metadata.get("language", "")
            text = Text(document.text, language, document.metadata, job.settings.words)
            signer.add(count, text, held_out=False)
            count += 1
    signer.close(count)
    write_json(note, {"documents": count, "damaged": damages})


def read_notes(job: Job) -> Iterator[tuple[Path, dict[str, int]]]:
    """Of each shard of the earlier corpora: the file that lists its damages, and their counts."""
    for name, shards in job.references.items():
        for shard in shards:
            note = _note(job, name, shard.number)
            yield damages_of(note), read_json(note)["damaged"]


def damages_of(note: Path) -> Path:
    """The damages beside a note."""
    return note.with_suffix(".jsonl.zst")


def _note(job: Job, name: str, shard: int) -> Path:
    return job.work / "references" / f"{name}-{shard:06d}.json"
