"""One build of a corpus as every task sees it: the settings, the shards, where each round's files lie.

Decides: the layout of the work directory, and when the work of an earlier attempt still counts: same settings, same
input, same format. Guarantees: whatever a killed task left is overwritten or ignored. Costs: one small JSON file, read
once by each process.
"""

from __future__ import annotations

import glob
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from danlu.corpus.rounds import Round, columns_of, plan_rounds
from danlu.corpus.settings import CorpusSettings, Step, decisive, name_of
from danlu.dedup.contract import suggest_ranges
from danlu.dedup.settings import Exact, MinHash, SharedStep
from danlu.errors import InputError
from danlu.files import digest, disk_errors, read_json, write_json
from danlu.lm.settings import CARD_SUFFIX
from danlu.read.documents import fingerprint
from danlu.read.find import find_files
from danlu.read.settings import Source
from danlu.read.shards import Shard, plan_shards

FORMAT = 2
"""Version of the work directory; what another version left is not used."""

IDS = "id"
"""The name of the first deduplication of all: an id that a source gives twice in a domain."""

_LEAST_SHARD, _MOST_SHARD, _SHARES = 16_000_000, 256_000_000, 64
_EXPANDS = 4
"""Input may be compressed."""


@dataclass(frozen=True)
class Job:
    """What a task needs to know; a pure function of job.json."""

    work: Path
    base: Path
    settings: CorpusSettings
    shards: tuple[Shard, ...]
    references: Mapping[str, tuple[Shard, ...]]
    """Shards of the earlier corpora that the step of a name compares with; numbered after all others."""
    rounds: tuple[Round, ...]

    def ranges(self, name: str, step: SharedStep) -> int:
        """How many hash ranges the records of a deduplication are cut into, those of earlier corpora too."""
        earlier = sum(shard.size for shard in self.references.get(name, ()))
        return suggest_ranges(step, _EXPANDS * (self.size + earlier))

    @property
    def size(self) -> int:
        """About how many bytes the sources have."""
        return sum(shard.size for shard in self.shards)

    @property
    def columns(self) -> list[str]:
        """What all steps measure and cut, in order, as the ledger names it."""
        return [column for step in self.settings.step for column in columns_of(step)]

    @property
    def places(self) -> dict[str, int]:
        """Where each column stands among `columns`."""
        return {column: place for place, column in enumerate(self.columns)}

    def place(self, number: int, shard: int) -> Path:
        """Where round `number` leaves what it made of a shard."""
        return self.work / f"round-{number}" / f"shard-{shard:06d}"

    def dedup_place(self, name: str) -> Path:
        """The records and decisions of one deduplication."""
        return self.work / f"dedup-{name}"


def dedups_of(job: Job, number: int) -> list[tuple[str, SharedStep | None]]:
    """What round `number` signs for, in order: (name, settings); ids come first of all and have no settings."""
    ids: list[tuple[str, SharedStep | None]] = [(IDS, None)] if number == 0 else []
    return ids + [(name_of(step), step) for step in job.rounds[number].dedups]


def open_job(settings: CorpusSettings, base: Path, work: Path) -> Job:
    """The job in `work`: that of an earlier attempt at the same build, else a new one in an empty directory."""
    key = digest([FORMAT, decisive(settings), corpus_fingerprint(settings, base), str(base)])
    path = work / "job.json"
    if not path.is_file() or read_json(path).get("key") != key:
        shutil.rmtree(work, ignore_errors=True)
        with disk_errors(work):
            work.mkdir(parents=True)
        write_json(path, {"key": key, **_plan(settings, base)})
    return load_job(work)


def load_job(work: Path) -> Job:
    """The job of a work directory; read once by each process."""
    return _load(work, (work / "job.json").stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _load(work: Path, changed_ns: int) -> Job:  # noqa: ARG001  (a new job in the same place is another one)
    value = read_json(work / "job.json")
    base = Path(value["base"])
    settings = CorpusSettings.model_validate(value["settings"])
    settings = settings.model_copy(update={"step": [_from_anywhere(step, base) for step in settings.step]})
    return Job(
        work,
        base,
        settings,
        tuple(map(Shard.from_json, value["shards"])),
        {name: tuple(map(Shard.from_json, some)) for name, some in value["references"].items()},
        plan_rounds(settings.step),
    )


def corpus_fingerprint(settings: CorpusSettings, base: Path) -> list[list[str | int]]:
    """What decides whether the input changed: the files of the sources, and those that steps name."""
    rows = [row for source in settings.source for row in fingerprint(source, base)]
    for step in settings.step:
        for key in path_keys(step):
            if paths := _named_paths(step, key):
                # What a model's card says decides too.
                cards = [card for path in paths if (base / (card := f"{path}{CARD_SUFFIX}")).is_file()]
                with _naming(step, key):
                    rows += fingerprint(_as_source([*paths, *cards], base), base)
    return rows


def path_keys(step: Step) -> tuple[str, ...]:
    """The keys of a step that name files: globs, one file or folder, or one for each of several languages."""
    keys: tuple[str, ...] = getattr(type(step), "PATHS", ())
    return keys


def _named_paths(step: Step, key: str) -> list[str]:
    value = getattr(step, key)
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else [value] if value else []


def _as_source(paths: Sequence[str], base: Path) -> Source:
    """Files and all of what is in folders; how a file is read does not matter to which it is."""
    globs = [f"{glob.escape(path)}/**/*" if (base / path).is_dir() else path for path in paths]
    return Source(domain="named", paths=globs, format="txt")


@contextmanager
def _naming(step: Step, key: str) -> Iterator[None]:
    """An error about a step's file names the step's key."""
    try:
        yield
    except InputError as error:
        why = str(error).partition(";")[0].removeprefix("source 'named': ")
        raise InputError(f"{why}; correct {key} of the step {name_of(step)!r}") from error


def _from_anywhere(step: Step, base: Path) -> Step:
    """The step with each file that it reads by itself named from the root; earlier corpora are read as sources are."""
    found: dict[str, Any] = {}
    for key in () if isinstance(step, SharedStep) else path_keys(step):
        value = getattr(step, key)
        with _naming(step, key):
            if isinstance(value, list) and value:
                found[key] = [str(base / file.path) for file in find_files(_as_source(value, base), base)]
            elif isinstance(value, dict):
                found[key] = {name: _from_root(path, base) for name, path in value.items()}
            elif value:
                found[key] = _from_root(value, base)
    return step.model_copy(update=found)


def _from_root(path: str, base: Path) -> str:
    """One file or folder, named from the root. Raises InputError where it is not there."""
    if (base / path).is_dir():
        return str((base / path).resolve())
    return str(base / find_files(_as_source([path], base), base)[0].path)


def _plan(settings: CorpusSettings, base: Path) -> dict[str, Any]:
    whole = plan_shards(settings.source, base, _MOST_SHARD)
    total = sum(shard.size for shard in whole)
    fitting = min(max(total // _SHARES, _LEAST_SHARD), _MOST_SHARD)
    shard_bytes = fitting if settings.shard_bytes == "auto" else settings.shard_bytes
    shards = plan_shards(settings.source, base, shard_bytes)
    references: dict[str, list[Any]] = {}
    number = len(shards)
    for step in settings.step:
        if isinstance(step, (Exact, MinHash)) and step.against:
            earlier = plan_shards([earlier_corpora(step)], base, shard_bytes)
            references[name_of(step)] = [
                replace(shard, number=number + shard.number).to_json() for shard in earlier
            ]
            number += len(earlier)
    return {
        "settings": settings.model_dump(mode="json"),
        "base": str(base),
        "shards": [shard.to_json() for shard in shards],
        "references": references,
    }


def earlier_corpora(step: Exact | MinHash) -> Source:
    """The texts that a step compares with and that are never written, as a source."""
    return Source(domain="earlier", paths=step.against)
