"""Saving a step: whole, hashed from memory, durable, and only then visible.

Guarantees: a kill at any byte, a full disk or an error leaves every earlier save as it was and no half step;
weights that are not finite are never saved. Costs: the write, beside it (on another core) one SHA-256, one
scan for extremes, no copy of the tensors; one fsync a file and two for directories.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from torch import Tensor

from danlu.checkpoint.manifest import MANIFEST, STATE, Entry, Manifest, step_name
from danlu.checkpoint.steps import clean, put_in_place
from danlu.checkpoint.tensors import check_tensors, encode
from danlu.files import TEMPORARY, disk_errors, sync_directory

_STEM = re.compile(r"[a-z][a-z0-9_]*")


def save(
    directory: Path, step: int, tensors: Mapping[str, Mapping[str, Tensor]], state: Mapping[str, Any]
) -> Path:
    """Saves `tensors` (file stem -> name -> tensor) and `state` (JSON values) as step `step`; returns its
    directory.

    A step that is there is replaced once the new one is whole. The caller owns the directory (files.lock).
    Raises DivergedError for tensors that are not finite, DanluError for a full disk, TypeError or ValueError
    for what could not be read back.
    """
    for stem, group in tensors.items():
        if not _STEM.fullmatch(stem):
            raise ValueError(f"{stem!r} cannot be the name of a checkpoint file")
        check_tensors(group, f"step {step}, {stem}")
    encoded_state = _encode_state(state)
    temporary = directory / f"{TEMPORARY}{step_name(step)}"
    with disk_errors(directory):
        if not directory.is_dir():
            directory.mkdir(parents=True)
            sync_directory(directory.parent)
        clean(directory)
        temporary.mkdir()
        try:
            entries = [_write(temporary / f"{stem}.safetensors", encode(tensors[stem])) for stem in tensors]
            entries.append(_write(temporary / STATE, [encoded_state]))
            _write(temporary / MANIFEST, [Manifest(step, tuple(entries)).encode()])
            return put_in_place(temporary, directory, step)
        finally:
            # What cannot be removed now is removed by the next save.
            shutil.rmtree(temporary, ignore_errors=True)


def _write(path: Path, pieces: Iterable[bytes | memoryview]) -> Entry:
    """Writes and syncs a file; the hash is of the memory, so that damage on the way to the disk is found
    later.
    """
    sha256, size = hashlib.sha256(), 0
    with ThreadPoolExecutor(1) as other_core, path.open("xb") as file:
        for piece in pieces:
            hashed = other_core.submit(sha256.update, piece)
            size += file.write(piece)
            hashed.result()
        file.flush()
        os.fsync(file.fileno())
    return Entry(path.name, size, sha256.hexdigest())


def _encode_state(state: Mapping[str, Any]) -> bytes:
    """JSON that gives back an equal value; tuples, number keys and NaN would come back as something else."""
    text = json.dumps(state, indent=2, ensure_ascii=False, allow_nan=False)
    if json.loads(text) != state:
        raise TypeError("the state holds values that JSON does not give back, such as tuples or number keys")
    return text.encode()
