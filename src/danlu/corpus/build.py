"""Build the corpus: sources in order, through the steps, split by hash, into parts; and the account of it.

Guarantees: the folder is whole or as it was before: everything is written beside it and renamed at the end. Every
document that was read is in a part, or in dropped.jsonl.zst with its step and reason; every damage is in
damaged.jsonl.zst with its place. A text that is held out stays held out, whatever is added. The same sources and
settings give the same bytes. Costs: one pass, one process, 40-100 MB/s by format; memory as in read/ and write.py, plus
160 bytes a document for exact deduplication and 80 a given id.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import xxhash

from danlu.corpus.funnel import Funnel
from danlu.corpus.settings import CorpusSettings
from danlu.corpus.split import TRAIN, split_of
from danlu.corpus.steps import DUPLICATE, Place, StepFunction, make_steps
from danlu.corpus.tally import Tally
from danlu.corpus.write import Lines, PartWriter
from danlu.files import TEMPORARY, disk_errors, replace_directory, write_json
from danlu.log import progress
from danlu.quality.verdict import Dropped, Kept, Verdict
from danlu.read.documents import read_documents
from danlu.read.raw import Damage
from danlu.records import Document

_REPEATED = "id.repeated"
"""Why a document is dropped whose given id its domain had before, in whatever source or file."""


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
            replace_directory(temporary, directory)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return funnel


def _build(settings: CorpusSettings, base: Path, corpus: Path) -> Funnel:
    tally = Tally([source.domain for source in settings.source])
    superseded: set[int] = set()
    steps = make_steps(settings.step, superseded)
    given_ids = {source.domain: set[bytes]() for source in settings.source}
    parts = PartWriter(corpus)
    with (
        Lines(corpus / "dropped.jsonl.zst") as dropped,
        Lines(corpus / "damaged.jsonl.zst") as damaged,
        progress("corpus", None, "bytes") as bar,
    ):

        def count_damage(damage: Damage) -> None:
            tally.count_damage(damage.reason)
            damaged.add(asdict(damage))

        documents = (
            document
            for source in settings.source
            for document in read_documents(source, base, settings.max_document_bytes, count_damage)
        )
        for number, document in enumerate(documents):
            read_bytes = len(document.text.encode())
            tally.count_read(document.domain, read_bytes)
            place = Place(number, split_of(document.group, settings.validation_share))
            repeated = _is_repeated(document, given_ids[document.domain])
            verdict = Dropped(_REPEATED) if repeated else _clean(document.text, place, steps)
            if isinstance(verdict, Dropped):
                tally.count_dropped(document.domain, verdict.reason, read_bytes)
                dropped.add(_record(document, verdict.reason))
            else:
                kept_bytes = len(verdict.text.encode())
                tally.count_kept(place.split, document, kept_bytes)
                parts.add(place.split, number, replace(document, text=verdict.text), kept_bytes)
            bar.advance(read_bytes)
        parts.close()
        for document in parts.take_out(TRAIN, superseded):
            tally.count_superseded(document, DUPLICATE)
            dropped.add(_record(document, DUPLICATE))
    tally.check(settings.validation_share)
    return tally.funnel((_step_of(_REPEATED), *(name for name, _ in steps)))


def _is_repeated(document: Document, given_ids: set[bytes]) -> bool:
    """Whether the source names an id that its domain had before; `given_ids` remembers."""
    if not document.given_id:
        return False
    key = xxhash.xxh3_128_digest(document.id.encode())
    repeated = key in given_ids
    given_ids.add(key)
    return repeated


def _clean(text: str, place: Place, steps: Sequence[tuple[str, StepFunction]]) -> Verdict:
    """The text after all steps, or what the first that drops it says."""
    verdict: Verdict = Kept(text)
    for _, step in steps:
        verdict = step(text, place)
        if isinstance(verdict, Dropped):
            break
        text = verdict.text
    return verdict


def _record(document: Document, reason: str) -> dict[str, Any]:
    """A line of dropped.jsonl.zst."""
    record = {key: getattr(document, key) for key in ("id", "source", "start", "end", "domain")}
    return {**record, "step": _step_of(reason), "reason": reason}


def _step_of(reason: str) -> str:
    return reason.partition(".")[0]
