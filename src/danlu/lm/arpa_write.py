"""Writes ARPA files: text with the n-grams of a back-off model, their probabilities and weights as log10.

Guarantees: the same bytes for the same model; seven decimals, so that a sentence of a hundred words is scored to 1e-5.
Costs: 100 MB/s of text; a block of it and the vocabulary's spelling in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.lm.kneser_ney import Floats, Gram
from danlu.lm.runs import Rows

Bytes = npt.NDArray[np.uint8]
Doubles = npt.NDArray[np.float64]

DECIMALS = 7
_SCALE = 10**DECIMALS
_NUMBER_BYTES = 20
_LEAST = -99.0
"""log10 of what has no probability at all, by custom."""


def write_arpa(
    path: Path, words: Sequence[str], counts: Sequence[int], sections: Iterable[Iterable[Gram]]
) -> None:
    """Writes the n-grams of each order, of which there are `counts`. Not atomic: give a temporary path."""
    spelled = [word.encode() for word in words]
    blob = np.frombuffer(b"".join(spelled), np.uint8)
    offsets = np.concatenate([[0], np.cumsum([len(word) for word in spelled])]).astype(np.int64)
    with path.open("wb") as file:
        lines = [f"ngram {order}={count}\n" for order, count in enumerate(counts, 1)]
        file.write(("\\data\\\n" + "".join(lines)).encode())
        for order, section in enumerate(sections, 1):
            file.write(f"\n\\{order}-grams:\n".encode())
            for gram in section:
                words_of = np.ascontiguousarray(gram.words)
                logs = _log10(gram.probability), _log10(gram.backoff)
                file.write(_format(words_of, *logs, order == len(counts), blob, offsets).tobytes())
        file.write(b"\n\\end\\\n")


def _log10(values: Floats) -> Doubles:
    with np.errstate(divide="ignore"):
        return np.maximum(np.log10(values.astype(np.float64)), _LEAST)


@njit(cache=True, nogil=True)
def _format(
    rows: Rows,
    probability: Doubles,
    backoff: Doubles,
    last: bool,
    blob: Bytes,
    offsets: npt.NDArray[np.int64],
) -> Bytes:
    """The lines of n-grams; `last`: of the highest order, which has no weights."""
    size = rows.shape[0] * (2 * _NUMBER_BYTES + rows.shape[1] + 2)
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            size += offsets[rows[row, column] + 1] - offsets[rows[row, column]]
    out = np.empty(size, np.uint8)
    place = 0
    for row in range(rows.shape[0]):
        place = _write_number(out, place, min(probability[row], 0.0))
        for column in range(rows.shape[1]):
            out[place] = 32 if column else 9
            place += 1
            for source in range(offsets[rows[row, column]], offsets[rows[row, column] + 1]):
                out[place] = blob[source]
                place += 1
        if not last:
            out[place] = 9
            place = _write_number(out, place + 1, backoff[row])
        out[place] = 10
        place += 1
    return out[:place]


@njit(cache=True, nogil=True)
def _write_number(out: Bytes, place: int, value: float) -> int:
    """Writes a number below 1000 with DECIMALS decimals; the place behind it."""
    scaled = np.int64(round(abs(value) * _SCALE))
    if scaled == 0:
        out[place] = 48
        return place + 1
    if value < 0:
        out[place] = 45
        place += 1
    divisor = _SCALE * 100
    while divisor > _SCALE and scaled < divisor:
        divisor //= 10
    while divisor >= 1:
        if divisor * 10 == _SCALE:
            out[place] = 46
            place += 1
        out[place] = 48 + scaled // divisor % 10
        place += 1
        divisor //= 10
    return place
