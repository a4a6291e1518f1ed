"""Arrays on disk: a safetensors file written by hand, so that its bytes are the same every time, read as a memory map.

Guarantees: a file is whole or absent; its header holds a checksum of all its arrays; any safetensors reader opens it.
Costs: writing holds no more than the arrays, and of a `Spool` nothing; opening reads the header only, and takes one map
and one file descriptor while an array of the file is in use; verifying reads everything.
Format: https://github.com/huggingface/safetensors (8-byte little-endian header length, JSON header, raw arrays).
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import mmap
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from danlu.errors import DamagedError, DanluError, MissingError
from danlu.files import disk_errors, write_blocks

Array = npt.NDArray[Any]
_NAMES = {"<u2": "U16", "<u4": "U32", "<i4": "I32", "<i8": "I64", "<u8": "U64"}
_DTYPES = {name: np.dtype(code) for code, name in _NAMES.items()}
_MAX_HEADER_BYTES = 100_000_000
_BLOCK_BYTES = 1 << 22
_LIMITS = {
    errno.EMFILE: "the number of files that a process may open (ulimit -n)",
    errno.ENFILE: "the number of files that the system may open (sysctl fs.file-max)",
    errno.ENOMEM: "the number of memory maps that a process may have (sysctl vm.max_map_count)",
}
"""What more shards than a system expects run into, and where it is set."""


class Spool:
    """A one-dimensional array that grows in a file of its own, so that it need not fit into memory."""

    def __init__(self, path: Path, dtype: npt.DTypeLike) -> None:
        self.path, self.dtype = path, np.dtype(dtype).newbyteorder("<")
        self._count = 0
        with disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("w+b")

    def __len__(self) -> int:
        return self._count

    def append(self, values: Array) -> None:
        """Adds values, cast to the array's type."""
        with disk_errors(self.path):
            self._file.write(values.astype(self.dtype, copy=False).tobytes())
        self._count += len(values)

    def blocks(self) -> Iterator[bytes]:
        """The bytes of the array, from its beginning."""
        with disk_errors(self.path):
            self._file.seek(0)
        while block := self._file.read(_BLOCK_BYTES):
            yield block

    def close(self) -> None:
        """Removes the file."""
        self.path.unlink(missing_ok=True)
        # What it still holds is not wanted, and a full disk must not refuse to forget it.
        with contextlib.suppress(OSError):
            self._file.close()


def write_tensors(path: Path, arrays: Mapping[str, Array | Spool], metadata: Mapping[str, str]) -> None:
    """Writes one-dimensional integer arrays and text metadata atomically; adds the key `checksum`."""
    ordered = sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    entries: dict[str, Any] = {}
    position = 0
    for name, array in ordered:
        size = len(array) * array.dtype.itemsize
        entries[name] = {
            "dtype": _NAMES[array.dtype.newbyteorder("<").str],
            "shape": [len(array)],
            "data_offsets": [position, position + size],
        }
        position += size

    def blocks() -> Iterator[bytes]:
        for _, array in ordered:
            if isinstance(array, Spool):
                yield from array.blocks()
            else:
                yield array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()

    hasher = xxhash.xxh3_128()
    for block in blocks():
        hasher.update(block)
    entries["__metadata__"] = {**metadata, "checksum": hasher.hexdigest()}
    header = json.dumps(entries, sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    write_blocks(path, itertools.chain([len(header).to_bytes(8, "little") + header], blocks()))


def open_tensors(path: Path) -> tuple[dict[str, Array], dict[str, str]]:
    """The arrays as read-only views of one memory map, and the metadata. Raises DamagedError where it is not whole."""
    try:
        data = map_file(path)
        start, header = _read_header(data)
        metadata = dict(header.pop("__metadata__"))
        arrays = {name: _view(data, start, entry) for name, entry in header.items()}
    except FileNotFoundError:
        raise MissingError(f"{path} does not exist") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedError(
            f"{path} is damaged ({error}); remove it and type the same command again"
        ) from error
    return arrays, metadata


def verify_tensors(path: Path) -> None:
    """Compares the arrays with the checksum in the header; raises DamagedError. Reads the whole file."""
    arrays, metadata = open_tensors(path)
    hasher = xxhash.xxh3_128()
    with path.open("rb") as file:
        file.seek(8 + int.from_bytes(file.read(8), "little"))
        while block := file.read(_BLOCK_BYTES):
            hasher.update(block)
    if hasher.hexdigest() != metadata.get("checksum"):
        names = ", ".join(sorted(arrays))
        raise DamagedError(
            f"{path} is not what was written: the checksum of its arrays ({names}) differs. "
            f"Remove it and type the same command again"
        )


def map_file(path: Path) -> mmap.mmap | bytes:
    """A file as a read-only memory map, an empty one as b"". Raises DanluError where the system allows no more maps."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:  # which cannot be mapped
                return b""
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        if error.errno not in _LIMITS:
            raise
        raise DanluError(
            f"{path} cannot be mapped into memory: {os.strerror(error.errno)}; raise {_LIMITS[error.errno]}"
        ) from error


def _read_header(data: mmap.mmap | bytes) -> tuple[int, dict[str, Any]]:
    length = int.from_bytes(data[:8], "little")
    if not 2 <= length <= _MAX_HEADER_BYTES:
        raise ValueError("no safetensors header")
    text = data[8 : 8 + length]
    if len(text) < length:
        raise ValueError("the header is cut off")
    header = json.loads(text)
    if not isinstance(header, dict):
        raise ValueError("the header is no object")  # noqa: TRY004 - a damaged file, not a wrong argument
    return 8 + length, header


def _view(data: mmap.mmap | bytes, start: int, entry: dict[str, Any]) -> Array:
    first, last = entry["data_offsets"]
    dtype, count = _DTYPES[entry["dtype"]], int(entry["shape"][0])
    if not 0 <= first <= last or last - first != count * dtype.itemsize or start + last > len(data):
        raise ValueError("an array is cut off")
    # Not np.memmap, which takes a map and a descriptor an array, and microseconds a slice.
    return np.frombuffer(data, dtype, count, start + first)
