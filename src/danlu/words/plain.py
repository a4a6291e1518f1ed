"""Words by white space, and by character in scripts without spaces: kernels over code points.

Guarantees: "plain" words are those of `str.split()`; "characters" words are the same ones, cut so that each code
point of a script without spaces stands alone. Costs: some 300 MB/s.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.words.classes import ALPHA, SPACE, UNSPACED

Codes = npt.NDArray[np.uint32]
Flags = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int32]


@njit(cache=True, nogil=True)
def split_runs(codes: Codes, flags: Flags, alone: int) -> tuple[Offsets, Offsets]:
    """Starts and ends (W,) of the runs between spaces; a code point with a flag of `alone` is a run of its own."""
    starts = np.empty(codes.size, np.int32)
    ends = np.empty(codes.size, np.int32)
    words = 0
    begin = -1
    for position in range(codes.size):
        flag = flags[codes[position]]
        if flag & (SPACE | alone):
            if begin >= 0:
                starts[words] = begin
                ends[words] = position
                words += 1
                begin = -1
            if flag & alone:
                starts[words] = position
                ends[words] = position + 1
                words += 1
        elif begin < 0:
            begin = position
    if begin >= 0:
        starts[words] = begin
        ends[words] = codes.size
        words += 1
    return starts[:words].copy(), ends[:words].copy()


@njit(cache=True, nogil=True)
def unspaced_share(codes: Codes, flags: Flags) -> float:
    """How much of the letters (and vowel signs) is of scripts without spaces, in [0, 1]; 0 where there are none."""
    letters = 0
    unspaced = 0
    for code in codes:
        flag = flags[code]
        letters += (flag & (ALPHA | UNSPACED)) != 0
        unspaced += (flag & UNSPACED) != 0
    return unspaced / letters if letters else 0.0
