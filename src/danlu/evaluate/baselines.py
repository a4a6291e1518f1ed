"""What simple methods reach on the same bytes, so that a model's bits per byte can be judged.

Decides: `order0`, the byte frequencies, and `bigram`, the byte given the byte before, are counted on training text
with half a count added to every byte (Krichevsky and Trofimov 1981), and measured as cross-entropy on validation
text; `xz` compresses the validation text alone, as `xz -9` would. None of them sees where documents end.
Costs: two passes over the bytes, and xz at about 1-3 MB/s. No torch.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from danlu.errors import InputError

_CHUNK_BYTES = 1 << 22
_SMALLEST_DICTIONARY, _LARGEST_DICTIONARY = 1 << 12, 1 << 26

NAMES = {"order0": "order-0", "bigram": "bigram", "xz": "xz -9"}
"""What a reader is told for each of them."""

Counts = npt.NDArray[np.int64]


def baselines(train_bytes: bytes, validation_bytes: bytes) -> dict[str, float]:
    """Bits per byte of the validation text: {"order0": ..., "bigram": ..., "xz": ...}."""
    if not train_bytes or not validation_bytes:
        which = "validation" if train_bytes else "training"
        raise InputError(f"there is no {which} text to measure baselines on")
    train, validation = count_pairs(train_bytes), count_pairs(validation_bytes)
    first = validation_bytes[0]
    order0 = _code_lengths(_singles(train, train_bytes[0]))
    bigram = _code_lengths(train)
    size = len(validation_bytes)
    return {
        "order0": float((_singles(validation, first) * order0).sum()) / size,
        # The first byte has none before it, and is coded by its frequency.
        "bigram": (float((validation * bigram).sum()) + float(order0[first])) / size,
        "xz": 8.0 * xz_bytes(validation_bytes) / size,
    }


def compare(bits_per_byte: float, simple: Mapping[str, float]) -> str:
    """Which of the baselines a model beats and which not, in plain words: "beats order-0 (4.70), but not xz (2.10)"."""
    beaten = [
        f"{NAMES.get(name, name)} ({bits:.2f})" for name, bits in simple.items() if bits_per_byte < bits
    ]
    others = [
        f"{NAMES.get(name, name)} ({bits:.2f})" for name, bits in simple.items() if not bits_per_byte < bits
    ]
    if not beaten:
        return f"does not beat {_listed(others, 'or')}"
    return f"beats {_listed(beaten, 'and')}" + (f", but not {_listed(others, 'or')}" if others else "")


def count_pairs(data: bytes) -> Counts:
    """How often byte b follows byte a: int64 (256, 256). Memory is bounded whatever the length."""
    counts = np.zeros(65_536, dtype=np.int64)
    for chunk in _overlapping(data):
        codes = chunk[:-1].astype(np.int32) * 256 + chunk[1:]
        counts += np.bincount(codes, minlength=65_536)
    return counts.reshape(256, 256)


def xz_bytes(data: bytes) -> int:
    """The size of `xz -9` of the data, container included."""
    # Preset 9 reserves 674 MB for its 64 MB window; a window no longer than the data finds the same matches.
    window = min(_LARGEST_DICTIONARY, max(_SMALLEST_DICTIONARY, len(data)))
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": window}]
    return len(lzma.compress(data, format=lzma.FORMAT_XZ, filters=filters))


def _listed(names: Sequence[str], word: str) -> str:
    return f"{', '.join(names[:-1])} {word} {names[-1]}" if len(names) > 1 else "".join(names)


def _overlapping(data: bytes) -> Iterator[npt.NDArray[np.uint8]]:
    """Views that share one byte with the next, so that no pair is lost between them."""
    view = np.frombuffer(data, dtype=np.uint8)
    for start in range(0, len(view) - 1, _CHUNK_BYTES):
        yield view[start : start + _CHUNK_BYTES + 1]


def _singles(pairs: Counts, first: int) -> Counts:
    singles: Counts = pairs.sum(axis=0)
    singles[first] += 1
    return singles


def _code_lengths(counts: Counts) -> npt.NDArray[np.float64]:
    """Bits of each symbol along the last axis, with half a count added to each."""
    smoothed = counts + 0.5
    lengths: npt.NDArray[np.float64] = np.log2(smoothed.sum(axis=-1, keepdims=True)) - np.log2(smoothed)
    return lengths
