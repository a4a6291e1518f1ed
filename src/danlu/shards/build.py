"""The corpus, and pairs of other pipelines, as token shards: one shard a part, many at a time.

Read `build_tokens` first. Guarantees: the same bytes whatever the workers and the interruptions; a finished shard is
not made again unless it, its part or the tokenizer moved, so that a build that was cut off, by kill -9 too, goes on at
the shard where it stopped; a shard whose part is gone is removed. Costs: the encoder's speed on each core; memory of a
worker as in task.py, whatever the size of the corpus; joined documents lie on disk until their shards are made.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from danlu.errors import DamagedError, InputError, MissingError
from danlu.files import TEMPORARY, digest, read_json, remove_temporaries
from danlu.jobs.pool import end_nursery
from danlu.jobs.run import Engine, run_tasks
from danlu.log import say
from danlu.read.store import list_domains, list_parts
from danlu.shards.documents import SPLITS, list_shards
from danlu.shards.join import Joined, join_domain, joined_part
from danlu.shards.megatron_import import list_ranges
from danlu.shards.shard import open_shard
from danlu.shards.task import counts_of, is_finished, make_shard, pair_task, part_task, remove_shard, stamp

_WORTH_A_POOL_BYTES = 16_000_000
_JOINED = "joined.json"

Place = tuple[str, str]
"""Split and domain."""


@dataclass(frozen=True, slots=True)
class Joining:
    """What the documents of a domain are joined by: a metadata field, or "folder" below `roots`."""

    field: str
    roots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DomainTokens:
    """One domain of one split: `bytes` are those of the UTF-8 text, `tokens` include BOS and EOS."""

    split: str
    domain: str
    documents: int
    tokens: int
    bytes: int
    shards: int
    shards_made: int


@dataclass(frozen=True, slots=True)
class TokensReport:
    """What the stage holds now and how much of it was made by this call."""

    domains: tuple[DomainTokens, ...]

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    def tokens(self, split: str) -> int:
        """All tokens of a split."""
        return sum(row.tokens for row in self.domains if row.split == split)


def build_tokens(
    tokenizer: Path,
    corpus: Path,
    directory: Path,
    workers: int | None = 1,
    join: Mapping[str, Joining] | None = None,
    pairs: Mapping[str, Path] | None = None,
) -> TokensReport:
    """Encodes corpus/{train,validation}/<domain> into `directory`/{train,validation}/<domain>/shard-*.safetensors.

    `tokenizer` is a tokenizer.json; `workers` None: one a core, but no pool for little text; the documents of the
    domains in `join` are joined first; `pairs` (domain -> a Megatron pair without .bin and .idx) become training text.
    Raises InputError where there is no training text, or a pair does not fit; a full disk leaves every finished shard
    as it was.
    """
    found = {
        (split, domain): list_parts(corpus, split, domain)
        for split in SPLITS
        for domain in list_domains(corpus, split)
    }
    if not any(parts for (split, _), parts in found.items() if split == "train"):
        raise InputError(f"{corpus} holds no training text; build the corpus first")
    engine = _engine(directory, workers, [part for parts in found.values() for part in parts])
    tasks = _part_tasks(tokenizer, directory, found, join or {}, engine)
    for domain, prefix in (pairs or {}).items():
        if ("train", domain) in tasks:
            raise InputError(
                f"tokens.megatron: {domain!r} is a domain of the corpus; give the pair another name"
            )
        place = directory / "train" / domain
        tasks["train", domain] = [
            pair_task(tokenizer, _shard(place, number), wanted)
            for number, wanted in enumerate(list_ranges(prefix))
        ]
    _remove_unwanted(directory, tasks)
    before = _times(tasks)
    left = [task for some in tasks.values() for task in some if not is_finished(task)]
    run_tasks(make_shard, left, engine, "tokens", [_size(task) for task in left])
    end_nursery()
    shutil.rmtree(_work(directory), ignore_errors=True)
    after = _times(tasks)
    for domain in pairs or {}:
        _say_pair(domain, tasks["train", domain])
    return TokensReport(tuple(_report(place, before[place], times) for place, times in after.items()))


def _engine(directory: Path, workers: int | None, parts: Sequence[Path]) -> Engine:
    from danlu.jobs.cores import usable_cores

    small = sum(part.stat().st_size for part in parts) < _WORTH_A_POOL_BYTES
    return Engine("pool", workers or (1 if small else usable_cores()), directory)


def _part_tasks(
    tokenizer: Path,
    directory: Path,
    found: Mapping[Place, list[Path]],
    join: Mapping[str, Joining],
    engine: Engine,
) -> dict[Place, list[dict[str, Any]]]:
    """The tasks of each domain, in order; what is to be joined is joined here, where its shards are not finished."""
    tasks: dict[Place, list[dict[str, Any]]] = {}
    joins: dict[Place, dict[str, Any]] = {}
    for (split, domain), parts in found.items():
        place = directory / split / domain
        place.mkdir(parents=True, exist_ok=True)
        remove_temporaries(place)
        if domain in join:
            joins[split, domain] = _join_task(directory, (split, domain), parts, join[domain])
        else:
            (place / _JOINED).unlink(missing_ok=True)
        tasks[split, domain] = [
            part_task(tokenizer, _shard(place, number), part, [part.name, *stamp(part)], joined=False)
            for number, part in enumerate(parts)
        ]
    for key, argument in joins.items():
        tasks[key] = _joined_tasks(tokenizer, directory, key, argument)
    left = [key for key in joins if _must_join(tasks[key])]
    run_tasks(join_domain, [joins[key] for key in left], engine, "join")
    for key in left:
        tasks[key] = _joined_tasks(tokenizer, directory, key, joins[key])
    for key, argument in joins.items():
        _say_joined(key, join[key[1]].field, _joined(argument))
    return tasks


def _must_join(tasks: list[dict[str, Any]]) -> bool:
    """Whether a shard of a joined domain lacks what it is made of; and where nothing is known of the domain."""
    return not tasks or any(not is_finished(task) and not Path(task["part"]).exists() for task in tasks)


def _join_task(directory: Path, place: Place, parts: list[Path], by: Joining) -> dict[str, Any]:
    split, domain = place
    key = digest([by.field, by.roots, [[part.name, *stamp(part)] for part in parts]])
    return {
        "parts": [str(part) for part in parts],
        "field": by.field,
        "roots": list(by.roots),
        "directory": str(_work(directory) / split / domain),
        "facts": str(directory / split / domain / _JOINED),
        "key": key,
    }


def _joined_tasks(
    tokenizer: Path, directory: Path, place: Place, argument: dict[str, Any]
) -> list[dict[str, Any]]:
    """The tasks for what is or was joined; none where it is not known yet."""
    split, domain = place
    joined = _joined(argument)
    return [
        part_task(
            tokenizer,
            _shard(directory / split / domain, number),
            joined_part(_work(directory) / split / domain, number),
            [argument["key"], number],
            joined=True,
        )
        for number in range(joined.parts if joined else 0)
    ]


def _joined(argument: dict[str, Any]) -> Joined | None:
    """What joining the same documents came to; None where it was not done."""
    try:
        facts = read_json(Path(argument["facts"]))
    except (MissingError, DamagedError):
        return None
    return Joined(**facts) if facts.pop("key") == argument["key"] else None


def _report(place: Place, before: dict[Path, int | None], after: dict[Path, int | None]) -> DomainTokens:
    split, domain = place
    shards = [open_shard(path) for path in after]
    return DomainTokens(
        split=split,
        domain=domain,
        documents=sum(len(shard.byte_counts) for shard in shards),
        tokens=sum(len(shard.ids) for shard in shards),
        bytes=sum(int(shard.byte_counts.sum()) for shard in shards),
        shards=len(shards),
        shards_made=sum(before[path] != time for path, time in after.items()),
    )


def _times(tasks: Mapping[Place, list[dict[str, Any]]]) -> dict[Place, dict[Path, int | None]]:
    """When each shard was written; None where there is none."""
    paths = {place: [Path(task["shard"]) for task in some] for place, some in tasks.items()}
    return {
        place: {path: path.stat().st_mtime_ns if path.exists() else None for path in some}
        for place, some in paths.items()
    }


def _remove_unwanted(directory: Path, tasks: Mapping[Place, list[dict[str, Any]]]) -> None:
    """Removes shards of parts and domains that are gone."""
    wanted = {Path(task["shard"]) for some in tasks.values() for task in some}
    for split in SPLITS:
        for domain in (directory / split).glob("*"):
            for path in set(list_shards(domain)) - wanted:
                remove_shard(path)


def _size(task: dict[str, Any]) -> int:
    """The bytes that a task reads."""
    if "pair" in task:
        return int(task["bytes"])
    return Path(task["part"]).stat().st_size


def _say_joined(place: Place, field: str, joined: Joined | None) -> None:
    if joined is not None:
        alone = f"; {joined.alone:,} have no {field} and stay alone" if joined.alone else ""
        say(f"  {'/'.join(place)}: {joined.documents:,} documents joined into {joined.joined:,}{alone}")


def _say_pair(domain: str, tasks: Sequence[dict[str, Any]]) -> None:
    """What the documents of a pair lacked."""
    counts = [counts_of(Path(task["shard"])) for task in tasks]
    bos, eos, empty = (sum(count[name] for count in counts) for name in ("bos_added", "eos_added", "empty"))
    if bos or eos or empty:
        say(
            f"  {domain}: BOS was added to {bos:,} documents, EOS to {eos:,}; {empty:,} empty ones are left out"
        )


def _shard(place: Path, number: int) -> Path:
    return place / f"shard-{number:05d}.safetensors"


def _work(directory: Path) -> Path:
    """Joined documents on their way into shards."""
    return directory / f"{TEMPORARY}joined"
