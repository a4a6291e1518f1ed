"""Tensors to and from safetensors bytes without a copy: what is hashed is exactly what is written, or handed
out.

Format: https://github.com/huggingface/safetensors#format - 8 bytes of header length, a JSON header, the data.
Written here rather than by the library because that one writes a file itself (its bytes could then only be
hashed after the disk had them) and opens headers with duplicate names. Guarantees: no pickle; a header that
lies is refused before anything is made of it. Costs: nothing beside the memory of the tensors.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from danlu.errors import DamagedError, DivergedError

_DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_ALIGNMENT = 8


def check_tensors(tensors: Mapping[str, Tensor], where: str) -> None:
    """Refuses what is not a storable tensor (TypeError) and what is not finite (DivergedError)."""
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"{where}: {name} is a {type(tensor).__name__}; only tensors are saved beside the state"
            )
        if tensor.dtype not in _NAMES or tensor.layout != torch.strided:
            raise TypeError(f"{where}: {name} is {tensor.dtype}, {tensor.layout}; it cannot be saved")
        if tensor.is_floating_point() and tensor.numel() and not _finite(tensor):
            raise DivergedError(
                f"{where}: {name} holds numbers that are not finite, so nothing was saved; "
                f"the saves before it are intact. Lower the learning rate and resume from one of them"
            )


def encode(tensors: Mapping[str, Tensor]) -> Iterator[memoryview]:
    """The bytes of a safetensors file, a piece a tensor, largest element type first so that all are aligned."""
    ordered = sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0]))
    header: dict[str, Any] = {}
    end = 0
    for name, tensor in ordered:
        start, end = end, end + tensor.numel() * tensor.element_size()
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [start, end],
        }
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    yield memoryview(len(text).to_bytes(8, "little") + text)
    for _, tensor in ordered:
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        yield flat.view(torch.uint8).numpy().data


def decode(data: Tensor, where: str) -> dict[str, Tensor]:
    """The tensors of a safetensors file held in `data` (uint8, 1-d): views, not copies.

    Raises DamagedError for anything but a header that covers the data exactly, without gap, overlap or
    duplicate.
    """
    length = int.from_bytes(data[:8].numpy().tobytes(), "little")
    if len(data) < 8 or length > len(data) - 8:
        raise DamagedError(f"{where} is not a safetensors file: its header would end past its end")
    try:
        header = json.loads(data[8 : 8 + length].numpy().tobytes().decode(), object_pairs_hook=_unique)
        entries = sorted(
            (
                (name, _DTYPES[item["dtype"]], item["shape"], *item["data_offsets"])
                for name, item in header.items()
            ),
            key=lambda entry: (entry[3], entry[4]),
        )
        return _views(data[8 + length :], entries)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, RuntimeError) as error:
        raise DamagedError(f"{where} is not a safetensors file that danlu wrote ({error})") from error


def _views(data: Tensor, entries: list[tuple[Any, ...]]) -> dict[str, Tensor]:
    tensors, expected = {}, 0
    for name, dtype, shape, start, end in entries:
        if start != expected or end < start or end > len(data):
            raise ValueError(f"{name} has a gap, an overlap or no room")
        if any(type(size) is not int or size < 0 for size in shape):
            raise ValueError(f"{name} has the shape {shape}")
        tensors[name] = data[start:end].view(dtype).reshape(shape)
        expected = end
    if expected != len(data):
        raise ValueError(f"{len(data) - expected} bytes belong to no tensor")
    return tensors


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("a name occurs twice")
    return table


def _finite(tensor: Tensor) -> bool:
    # Extremes carry a NaN on, and need no temporary of the tensor's size as isfinite does.
    low, high = torch.aminmax(tensor.detach())
    return bool(torch.isfinite(low) & torch.isfinite(high))
