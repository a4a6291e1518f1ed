"""Build the corpus: sources in order, through the steps, split by hash, into parts; and the account of it.

Guarantees: the folder is whole or as it was before: everything is written beside it and renamed at the end. Every
document that was read is in a part, or in dropped.jsonl.zst with its step and reason; every damage is in
damaged.jsonl.zst with its place. The same sources and settings give the same bytes. Costs: one pass, one process,
40-100 MB/s by format; memory as in read/ and write.py, plus 130 bytes a document for exact deduplication.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from danlu.corpus.funnel import Funnel
from danlu.corpus.settings import CorpusSettings
from danlu.corpus.split import split_of
from danlu.corpus.steps import StepFunction, make_steps
from danlu.corpus.tally import Tally
from danlu.corpus.write import Lines, PartWriter
from danlu.files import TEMPORARY, disk_errors, sync_directory, write_json
from danlu.log import progress
from danlu.quality.verdict import Dropped
from danlu.read.documents import read_documents
from danlu.read.raw import Damage
from danlu.records import Document


def build_corpus(settings: CorpusSettings, base: Path, directory: Path) -> Funnel:
    """Reads, cleans and splits all sources into `directory`; paths of sources are relative to `base`.

    Raises InputError where nothing, or nothing of a domain, is left, or a split of a domain is empty; DanluError
    where the disk is full. In each case `directory` is as it was before.
    """
    temporary = directory.with_name(f"{TEMPORARY}{directory.name}")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        with disk_errors(directory):
            temporary.mkdir(parents=True)
        funnel = _build(settings, base, temporary)
        write_json(temporary / "funnel.json", funnel.to_json())
        with disk_errors(directory):
            _replace(directory, temporary)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return funnel


def _build(settings: CorpusSettings, base: Path, corpus: Path) -> Funnel:
    tally = Tally([source.domain for source in settings.source])
    steps = make_steps(settings.step)
    parts = PartWriter(corpus)
    with (
        Lines(corpus / "dropped.jsonl.zst") as dropped,
        Lines(corpus / "damaged.jsonl.zst") as damaged,
        progress("corpus", None, "bytes") as bar,
    ):

        def count_damage(damage: Damage) -> None:
            tally.count_damage(damage.reason)
            damaged.add(asdict(damage))

        for source in settings.source:
            for document in read_documents(source, base, settings.max_document_bytes, count_damage):
                read_bytes = len(document.text.encode())
                tally.count_read(document.domain, read_bytes)
                cleaned = _clean(document, read_bytes, steps, tally, dropped)
                if cleaned is not None:
                    split = split_of(document.group, settings.validation_share)
                    kept_bytes = len(cleaned.text.encode())
                    tally.count_kept(split, document, kept_bytes)
                    parts.add(split, cleaned, kept_bytes)
                bar.advance(read_bytes)
    parts.close()
    tally.check(settings.validation_share)
    return tally.funnel(tuple(name for name, _ in steps))


def _clean(
    document: Document,
    read_bytes: int,
    steps: Sequence[tuple[str, StepFunction]],
    tally: Tally,
    dropped: Lines,
) -> Document | None:
    """The document after all steps, or None where one dropped it, which is then on record."""
    text = document.text
    for name, step in steps:
        verdict = step(text)
        if isinstance(verdict, Dropped):
            tally.count_dropped(document.domain, verdict.reason, read_bytes)
            record = {key: getattr(document, key) for key in ("id", "source", "start", "end", "domain")}
            dropped.add({**record, "step": name, "reason": verdict.reason})
            return None
        text = verdict.text
    return replace(document, text=text)


def _replace(directory: Path, whole: Path) -> None:
    """Puts the new folder in the place of the old one, which is removed last."""
    old = directory.with_name(f"{TEMPORARY}old-{directory.name}")
    shutil.rmtree(old, ignore_errors=True)
    if directory.exists():
        directory.rename(old)
    whole.rename(directory)
    sync_directory(directory.parent)
    shutil.rmtree(old, ignore_errors=True)
