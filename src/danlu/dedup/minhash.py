"""MinHash signatures (Broder 1997) of word shingles, cut into bands (Indyk & Motwani 1998): near copies share a band.

Decides: a shingle is `ngram` words of the simplified text (words/shingles.py), which has no punctuation left: words are
what stands between spaces, or single characters where the text's splitter says so. Hash function p of a shingle x is
(a_p x + b_p mod 2^64) mod 2^61 - 1, a and b drawn by numpy's RandomState, as datatrove draws them; the minimum of each
over the document is its signature. A document with fewer words than a shingle has none: empty and short documents match
nobody. For the evidence, 8 bits of each hash are kept (b-bit minwise hashing, Li & König 2010), or the shingles
themselves where Jaccard is to be verified. Guarantee: signatures depend on text, language and settings alone.
Costs: about 130 MB/s a core without simplifying; disk a document: 12 bytes a band, 1 a hash, or 8 a word.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.dedup.parameters import division
from danlu.dedup.plan import Keys, document_table, finish_signing, hash_range, sign_file
from danlu.dedup.records import RecordWriter
from danlu.dedup.settings import MinHash
from danlu.words.classes import SPACE, UNSPACED, table
from danlu.words.hashes import START, STEP, STEP_SHIFT, mix
from danlu.words.shingles import ngram_hashes, simplify
from danlu.words.text import Text, encode

BAND = np.dtype([("key", "<u8"), ("index", "<u4")])
SHINGLE = np.dtype([("hash", "<u8")])
SPAN = np.dtype([("first", "<i8"), ("count", "<i8")])
"""Where a document's shingles lie in the file of its shard."""

_MERSENNE_61 = (1 << 61) - 1
_BATCH = 2048


def sketch_dtype(settings: MinHash) -> np.dtype[np.void]:
    """The low 8 bits of every hash of a signature."""
    bands, rows = division(settings)
    return np.dtype([("hashes", "u1", (bands * rows,))])


def draw_functions(hashes: int, seed: int) -> tuple[Keys, Keys]:
    """a and b, (hashes,) each."""
    generator = np.random.RandomState(seed)
    a = generator.randint(1, _MERSENNE_61, size=hashes, dtype=np.uint64)
    return a, generator.randint(0, _MERSENNE_61, size=hashes, dtype=np.uint64)


@njit(cache=True, nogil=True)
def shingle_hashes(
    codes: npt.NDArray[np.uint32], flags: npt.NDArray[np.uint8], alone: int, ngram: int
) -> npt.NDArray[np.uint64]:
    """(W - ngram + 1,) hashes of the runs of `ngram` of the W words of a text (N,), none where W < ngram.

    Words are runs between spaces; a code point with a flag of `alone` is one by itself. Splitting and hashing in one
    pass is twice as fast as one after the other.
    """
    words = np.empty(codes.size, np.uint64)
    count = 0
    value = START
    inside = False
    for code in codes:
        flag = flags[code]
        if flag & (SPACE | alone):
            if inside:
                words[count] = mix(value)
                count += 1
            value = START
            inside = False
            if flag & alone:
                words[count] = mix(START ^ np.uint64(code))
                count += 1
        else:
            value = (value ^ np.uint64(code)) * STEP
            value ^= value >> STEP_SHIFT
            inside = True
    if inside:
        words[count] = mix(value)
        count += 1
    return ngram_hashes(words[:count], ngram)


@njit(cache=True, nogil=True)
def sign(shingles: Keys, a: Keys, b: Keys, signature: Keys) -> None:
    """Writes the minima of all hash functions (H,) over shingles (N,), N >= 1, into `signature`."""
    mersenne = np.uint64(_MERSENNE_61)
    for number in range(a.size):
        factor, summand = a[number], b[number]
        least = np.uint64(0xFFFFFFFFFFFFFFFF)
        # By index: iterating over the array is not vectorised.
        for place in range(shingles.size):
            value = shingles[place] * factor + summand
            # One folding is the remainder, but for 8 of 2^64 values, which stay above it.
            least = min(least, (value & mersenne) + (value >> np.uint64(61)))
        signature[number] = least


@njit(cache=True, nogil=True)
def band_keys(signatures: npt.NDArray[np.uint64], bands: int, keys: npt.NDArray[np.uint64]) -> None:
    """Hashes the rows of each band of signatures (D, H) into keys (bands, D)."""
    rows = signatures.shape[1] // bands
    for document in range(signatures.shape[0]):
        for band in range(bands):
            key = np.uint64(band + 1)
            for row in range(band * rows, (band + 1) * rows):
                key = (key ^ signatures[document, row]) * np.uint64(0x9E3779B97F4A7C15)
                key ^= key >> np.uint64(32)
            key *= np.uint64(0xD6E8FEB86659FD93)
            keys[band, document] = key ^ (key >> np.uint64(29))


class MinHashSigner:
    """Signs the documents of one shard for `use = "minhash"`."""

    def __init__(self, settings: MinHash, work: Path, shard: int, ranges: int) -> None:
        self._settings, self._place = settings, (work, shard, ranges)
        self._bands, rows = division(settings)
        self._functions = draw_functions(self._bands * rows, settings.seed)
        self._signed: list[tuple[int, bool, int]] = []
        self._batch: list[int] = []
        self._signatures = np.empty((_BATCH, self._bands * rows), np.uint64)
        self._rows = 0
        self._shingles = 0
        self._records = RecordWriter(sign_file(work, shard, "records"), BAND, self._bands * ranges)
        verify = settings.min_jaccard > 0.0
        kind, dtype = ("shingles", SHINGLE) if verify else ("sketches", sketch_dtype(settings))
        self._evidence = RecordWriter(sign_file(work, shard, kind), dtype, 1)
        self._spans = RecordWriter(sign_file(work, shard, "spans"), SPAN, 1) if verify else None

    def add(self, index: int, text: Text, held_out: bool) -> None:
        """One document."""
        self._signed.append((index, held_out, len(text.text)))
        alone = UNSPACED if text.splitter == "characters" else 0
        shingles = shingle_hashes(encode(simplify(text.text)), table(), alone, self._settings.ngram)
        if not len(shingles):
            return
        sign(shingles, *self._functions, self._signatures[len(self._batch)])
        self._batch.append(index)
        if self._spans:
            self._add_shingles(index, shingles)
        if len(self._batch) == _BATCH:
            self._flush()

    def close(self, documents: int) -> None:
        """Writes bands, evidence and the table of documents."""
        work, shard, ranges = self._place
        self._flush()
        self._records.close()
        self._evidence.close()
        if self._spans:
            self._spans.close()
        finish_signing(self._settings, work, shard, ranges, document_table(documents, self._signed))

    def _add_shingles(self, index: int, shingles: Keys) -> None:
        """The shingles of one document as they come; documents without any have an empty span."""
        assert self._spans is not None
        spans = np.zeros(index + 1 - self._rows, SPAN)
        spans[-1] = (self._shingles, len(shingles))
        self._rows, self._shingles = index + 1, self._shingles + len(shingles)
        self._spans.add(spans, np.zeros(len(spans), np.int64))
        self._evidence.add(shingles.view(SHINGLE), np.zeros(len(shingles), np.int64))

    def _flush(self) -> None:
        """The bands of the batch by range, and its sketches: one row for each document, signed or not."""
        if not self._batch:
            return
        ranges, index = self._place[2], np.array(self._batch, np.uint32)
        signatures = self._signatures[: len(index)]
        keys = np.empty((self._bands, len(index)), np.uint64)
        band_keys(signatures, self._bands, keys)
        records = np.empty(keys.shape, BAND)
        records["key"], records["index"] = keys, index
        first = np.arange(self._bands)[:, None] * ranges
        self._records.add(records.ravel(), (first + hash_range(keys, ranges)).ravel())
        if not self._spans:
            sketches = np.zeros(int(index[-1]) + 1 - self._rows, sketch_dtype(self._settings))
            sketches["hashes"][index - self._rows] = signatures.astype(np.uint8)
            self._rows = int(index[-1]) + 1
            self._evidence.add(sketches, np.zeros(len(sketches), np.int64))
        self._batch = []
