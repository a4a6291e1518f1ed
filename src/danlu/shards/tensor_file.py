"""Arrays on disk: a safetensors file written by hand, so that its bytes are the same every time, read as memory maps.

Guarantees: a file is whole or absent; its header holds a checksum of all its arrays; any safetensors reader opens it.
Costs: writing holds the file in memory once; opening reads the header only; verifying reads everything.
Format: https://github.com/huggingface/safetensors (8-byte little-endian header length, JSON header, raw arrays).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from danlu.errors import DamagedError, MissingError
from danlu.files import write_bytes

Array = npt.NDArray[Any]
_NAMES = {"<u2": "U16", "<u4": "U32", "<i4": "I32", "<i8": "I64", "<u8": "U64"}
_DTYPES = {name: np.dtype(code) for code, name in _NAMES.items()}
_MAX_HEADER_BYTES = 100_000_000


def write_tensors(path: Path, arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """Writes one-dimensional integer arrays and text metadata atomically; adds the key `checksum`."""
    ordered = sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    entries: dict[str, Any] = {}
    blobs, position = [], 0
    for name, array in ordered:
        blob = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        entries[name] = {
            "dtype": _NAMES[array.dtype.newbyteorder("<").str],
            "shape": [len(array)],
            "data_offsets": [position, position + len(blob)],
        }
        blobs.append(blob)
        position += len(blob)
    data = b"".join(blobs)
    entries["__metadata__"] = {**metadata, "checksum": xxhash.xxh3_128_hexdigest(data)}
    header = json.dumps(entries, sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    write_bytes(path, len(header).to_bytes(8, "little") + header + data)


def open_tensors(path: Path) -> tuple[dict[str, Array], dict[str, str]]:
    """The arrays as read-only memory maps, and the metadata. Raises DamagedError where the file is not whole."""
    try:
        start, header = _read_header(path)
        size = path.stat().st_size
        metadata = dict(header.pop("__metadata__"))
        arrays = {name: _map(path, start, size, entry) for name, entry in header.items()}
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
    start, _ = _read_header(path)
    hasher = xxhash.xxh3_128()
    with path.open("rb") as file:
        file.seek(start)
        while block := file.read(1 << 22):
            hasher.update(block)
    if hasher.hexdigest() != metadata.get("checksum"):
        names = ", ".join(sorted(arrays))
        raise DamagedError(
            f"{path} is not what was written: the checksum of its arrays ({names}) differs. "
            f"Remove it and type the same command again"
        )


def _read_header(path: Path) -> tuple[int, dict[str, Any]]:
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= _MAX_HEADER_BYTES:
            raise ValueError("no safetensors header")
        text = file.read(length)
    if len(text) < length:
        raise ValueError("the header is cut off")
    header = json.loads(text)
    if not isinstance(header, dict):
        raise ValueError("the header is no object")  # noqa: TRY004 - a damaged file, not a wrong argument
    return 8 + length, header


def _map(path: Path, start: int, size: int, entry: dict[str, Any]) -> Array:
    first, last = entry["data_offsets"]
    dtype, count = _DTYPES[entry["dtype"]], int(entry["shape"][0])
    if not 0 <= first <= last or last - first != count * dtype.itemsize or start + last > size:
        raise ValueError("an array is cut off")
    if count == 0:
        return np.zeros(0, dtype=dtype)
    # A plain view: slicing np.memmap itself costs microseconds each time.
    return np.asarray(np.memmap(path, dtype=dtype, mode="r", offset=start + first, shape=(count,)))
