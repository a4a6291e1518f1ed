"""When is a stage done, and if it is not, why? One small file answers: the manifest, written last and atomically.

Decides: a stage is done if its manifest names the same settings, the same inputs and outputs that are still there.
The input of a stage is the digest of what the stage before it wrote, so a stage that was redone with equal outputs
does not make the following ones stale. Costs: one `stat` an output file; a file is hashed again only when its
modification time moved, so damage below the file system is left to the readers' own checksums.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from danlu.config import differences
from danlu.corpus.split import SPLITS
from danlu.errors import DamagedError
from danlu.files import (
    TEMPORARY,
    digest,
    disk_errors,
    read_json,
    remove_temporaries,
    replace_directory,
    restore_directories,
    sha256_file,
    write_json,
)
from danlu.recipe import with_defaults

NEVER = "not built yet"
FORMAT = 1
"""Version of manifest.json; another one counts as never built."""


Accept = Callable[[str, Mapping[str, str]], None]
"""Is handed the digest of a stage's outputs, and domain -> digest of its files; raises to refuse them."""


@dataclass(frozen=True)
class Stage:
    """What decides one stage. Both mappings are JSON: they are compared with those of the last time."""

    name: str
    directory: Path
    settings: Mapping[str, Any]
    """Exactly the parts of the recipe that decide the outputs."""
    inputs: Mapping[str, Any]
    """What is read: a digest a stage before it, or name -> [size, modification time] of the user's files."""
    outputs: tuple[str, ...] = ("**/*",)
    """Globs of the files that the stage answers for."""
    manifest_name: str = "manifest.json"
    section: type[BaseModel] | None = None
    """What declares the settings: a key that is younger than the manifest had its default when it was written."""

    @property
    def manifest_path(self) -> Path:
        """Where the stage says that it is done."""
        return self.directory / self.manifest_name


def why_stale(stage: Stage) -> str | None:
    """Why the stage has to be done, in words for the user; None if it is done already."""
    manifest = read_manifest(stage)
    if manifest is None:
        return NEVER
    settings = manifest["settings"]
    if stage.section:
        settings = with_defaults(settings, stage.settings, stage.section)
    return (
        _changes(differences(settings, stage.settings))
        or _changes(_input_changes(manifest["inputs"], stage.inputs))
        or _output_change(stage.directory, manifest["outputs"])
    )


def read_manifest(stage: Stage) -> dict[str, Any] | None:
    """The manifest of a stage that was done once; None if there is none that can be read as this format."""
    if not stage.manifest_path.is_file():
        return None
    try:
        manifest = read_json(stage.manifest_path)
    except DamagedError:
        return None
    return manifest if isinstance(manifest, dict) and manifest.get("format") == FORMAT else None


def write_manifest(
    stage: Stage, facts: Mapping[str, Any] | None = None, accept: Accept | None = None
) -> None:
    """Says that the stage is done. `facts` is what the user may want to know.

    `accept` sees the digests of the outputs and may refuse them by raising: then the stage is not done.
    """
    outputs = {str(path.relative_to(stage.directory)): _describe(path) for path in _output_files(stage)}
    if accept:
        accept(_outputs_digest(outputs), _domain_digests(outputs))
    manifest = {
        "format": FORMAT,
        "stage": stage.name,
        "settings": dict(stage.settings),
        "inputs": dict(stage.inputs),
        "outputs": outputs,
        "facts": dict(facts or {}),
    }
    write_json(stage.manifest_path, manifest)


def output_digest(stage: Stage) -> str:
    """What the next stage compares: one digest of all that this one wrote; "" if it was never built."""
    manifest = read_manifest(stage)
    return _outputs_digest(manifest["outputs"]) if manifest else ""


def domain_digests(stage: Stage) -> dict[str, str]:
    """The same for each domain that the stage wrote files of; empty if it was never built, or has none."""
    manifest = read_manifest(stage)
    return _domain_digests(manifest["outputs"]) if manifest else {}


def facts_of(stage: Stage) -> dict[str, Any]:
    """The facts that the stage left in its manifest; empty if it was never built."""
    manifest = read_manifest(stage)
    return dict(manifest["facts"]) if manifest else {}


def remove_damaged(stage: Stage) -> None:
    """Removes the outputs that are not what was written, so that a build that goes on makes them anew."""
    manifest = read_manifest(stage)
    for name, described in (manifest["outputs"] if manifest else {}).items():
        if _output_change(stage.directory, {name: described}):
            (stage.directory / name).unlink(missing_ok=True)


@contextmanager
def rebuilt(stage: Stage, accept: Accept) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Builds a stage beside its directory: the old one stays whole until the new one is.

    The block is handed an empty directory and a dictionary for the facts. `accept` sees the digests of the new outputs
    and may refuse them by raising: then nothing has changed.
    """
    restore_directories(stage.directory.parent)
    remove_temporaries(stage.directory.parent)
    fresh = replace(stage, directory=stage.directory.with_name(f"{TEMPORARY}{stage.directory.name}"))
    fresh.directory.mkdir(parents=True)
    facts: dict[str, Any] = {}
    try:
        yield fresh.directory, facts
        write_manifest(fresh, facts, accept)
        with disk_errors(stage.directory):
            replace_directory(fresh.directory, stage.directory)
    finally:
        shutil.rmtree(fresh.directory, ignore_errors=True)


def _output_files(stage: Stage) -> list[Path]:
    found = {path for pattern in stage.outputs for path in stage.directory.glob(pattern)}
    return sorted(
        path
        for path in found
        if path.is_file() and path != stage.manifest_path and not path.name.startswith((TEMPORARY, ".lock"))
    )


def _describe(path: Path) -> list[int | str]:
    status = path.stat()
    return [status.st_size, sha256_file(path), status.st_mtime_ns]


def _outputs_digest(outputs: Mapping[str, list[int | str]]) -> str:
    """Of names, sizes and contents; when a file was written does not count."""
    return digest({name: described[:2] for name, described in outputs.items()})


def _domain_digests(outputs: Mapping[str, list[int | str]]) -> dict[str, str]:
    """Domain -> digest of its files, which lie in <split>/<domain>/."""
    files: dict[str, dict[str, list[int | str]]] = {}
    for name, described in outputs.items():
        split, *rest = name.split("/")
        if split in SPLITS and len(rest) == 2:
            files.setdefault(rest[0], {})[name] = described
    return {domain: _outputs_digest(some) for domain, some in sorted(files.items())}


def _output_change(directory: Path, outputs: Mapping[str, list[Any]]) -> str | None:
    for name, (size, sha256, mtime_ns) in outputs.items():
        path = directory / name
        if not path.is_file():
            return f"output {name} is missing"
        status = path.stat()
        if status.st_size != size:
            return f"output {name} is damaged: {status.st_size} bytes instead of {size}"
        if status.st_mtime_ns != mtime_ns and sha256_file(path) != sha256:
            return f"output {name} is damaged: its content is not what was written"
    return None


def _input_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    lines = []
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            what = "is new" if name not in old else "is gone" if name not in new else "changed"
            lines.append(f"input {name} {what}")
    return lines


def _changes(lines: list[str]) -> str | None:
    if not lines:
        return None
    more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
    return lines[0] + more
