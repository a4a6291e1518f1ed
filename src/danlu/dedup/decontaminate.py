"""Text of evaluation sets inside the corpus, found by n-grams (Brown et al. 2020, appendix C): a step on one document.

Decides: words are runs of code points that are neither white space nor punctuation, without case and accents; scripts
without spaces count by character. An example is one line of a file; the strings of a JSON line are read as one text.
An example shorter than an n-gram cannot be found: how many there are is in the table. Guarantees: every overlap names
the example's file and line and lies on word bounds of the text. A false one needs equal 64-bit hashes. Costs: some 32
bytes a distinct n-gram of the examples in each process; about 40 MB/s for words.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from danlu.dedup.contract import Longs, apply_cuts
from danlu.dedup.settings import Decontaminate
from danlu.errors import InputError
from danlu.extract.lines import read_lines, without_compression
from danlu.words.classes import ASSIGNED, CODE_POINTS, PUNCTUATION, SPACE, UNSPACED, table
from danlu.words.shingles import ngram_hashes, word_hashes
from danlu.words.text import Measured, Text, Words

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MEASURES = ("matched_ngrams", "matched_share")
REWRITES = True
REMEASURE = frozenset({"action"})
"""What `decide` reads too, but a change of which changes what is measured."""
NGRAMS = {"words": 13, "tokens": 10, "characters": 50}
"""Published lengths: GPT-3, Llama 2, GPT-4."""

_BREAK, _SKIP = 0, 1
"""In the table of folded code points: ends a word; is no part of it (an accent)."""

Codes = npt.NDArray[np.uint32]
Keys = npt.NDArray[np.uint64]
Offsets = npt.NDArray[np.int32]


class Units(NamedTuple):
    """What n-grams are made of: (n,) hashes, and where each unit lies in the text, in code points."""

    hashes: Keys
    starts: Longs
    ends: Longs


@dataclass(frozen=True, slots=True)
class Table:
    """The n-grams of all examples. `keys` is sorted, `example` the number of the first example of each."""

    keys: Keys
    example: Longs
    places: tuple[str, ...]
    """"file:line" of every example."""
    too_short: int
    """Examples with fewer units than an n-gram: they cannot be found."""
    seen: npt.NDArray[np.bool_]
    """By the top bits of a hash: False where no key begins so."""
    ngram: int
    tokenizer: Tokenizer | None


class Overlap(NamedTuple):
    """A run of the text that an example has too: code points [start, end), and the example's "file:line"."""

    start: int
    end: int
    text: str
    example: str


def load_table(settings: Decontaminate) -> Table:
    """The table of the files that the settings name; built once a process.

    Raises InputError where a glob matches nothing, a file is not whole or no UTF-8, a line is no JSON, or no example is
    long enough.
    """
    return _build(settings.model_dump_json())


def forget_files() -> None:
    """The examples are read anew by the next text: for a process that builds a second time."""
    _build.cache_clear()


def overlaps(text: Text, settings: Decontaminate) -> list[Overlap]:
    """What a text has in common with the examples, in order; n-grams that overlap or touch are one run."""
    known = load_table(settings)
    return _runs(text, _units(text, settings, known.tokenizer), known)[0]


def measure(text: Text, settings: Decontaminate) -> Measured:
    """MEASURES, and the text without the overlaps where settings say cut."""
    known = load_table(settings)
    units = _units(text, settings, known.tokenizer)
    runs, count, covered = _runs(text, units, known)
    values = (float(count), covered / max(len(units.hashes), 1))
    if settings.action == "cut" and runs:
        return Measured(text.with_text(apply_cuts(text.text, [(run.start, run.end) for run in runs])), values)
    return Measured(text, values)


def decide(values: Sequence[float], settings: Decontaminate) -> str:
    """Whether so much of a document is an example's that it goes."""
    return "overlap" if settings.action == "drop" and values[1] > settings.max_share else ""


def _runs(text: Text, units: Units, known: Table) -> tuple[list[Overlap], int, int]:
    """The overlaps, how many n-grams matched and how many units they cover."""
    keys = ngram_hashes(units.hashes, known.ngram)
    maybe = np.flatnonzero(known.seen[keys >> _shift(known.seen)])
    place = np.minimum(np.searchsorted(known.keys, keys[maybe]), len(known.keys) - 1)
    right = known.keys[place] == keys[maybe]
    first, example = maybe[right], known.example[place[right]]
    found, covered = [], 0
    for run in np.split(np.arange(len(first)), np.flatnonzero(np.diff(first) > known.ngram) + 1):
        if len(run):
            begin, end = int(first[run[0]]), int(first[run[-1]]) + known.ngram
            covered += end - begin
            start, stop = int(units.starts[begin]), int(units.ends[end - 1])
            found.append(Overlap(start, stop, text.text[start:stop], known.places[example[run[0]]]))
    return found, len(first), covered


def _shift(seen: npt.NDArray[np.bool_]) -> np.uint64:
    return np.uint64(64 - (len(seen) - 1).bit_length())


@cache
def _build(settings_json: str) -> Table:
    settings = Decontaminate.model_validate_json(settings_json)
    ngram = settings.ngram or NGRAMS[settings.unit]
    tokenizer = _open_tokenizer(Path(settings.tokenizer)) if settings.tokenizer else None
    places: list[str] = []
    keys, example, too_short = [np.empty(0, np.uint64)], [np.empty(0, np.int64)], 0
    for place, text in _read_examples(settings):
        found = ngram_hashes(_units(Text(text), settings, tokenizer).hashes, ngram)
        too_short += not len(found)
        keys.append(found)
        example.append(np.full(len(found), len(places), np.int64))
        places.append(place)
    if too_short == len(places):
        raise InputError(
            f"decontaminate: none of the {len(places)} examples of {', '.join(settings.against)} has the "
            f"{ngram} {settings.unit} of an n-gram, so that nothing could be found: lower ngram"
        )
    distinct, first = np.unique(np.concatenate(keys), return_index=True)
    bits = min(max(len(distinct).bit_length() + 4, 10), 28)
    seen = np.zeros(1 << bits, np.bool_)
    seen[distinct >> np.uint64(64 - bits)] = True
    return Table(distinct, np.concatenate(example)[first], tuple(places), too_short, seen, ngram, tokenizer)


def _read_examples(settings: Decontaminate) -> Iterator[tuple[str, str]]:
    """("file:line", text) of every example, file by file. A file that has none is refused: nothing of it is found."""
    for name in settings.against:
        kind = without_compression(Path(name)).suffix.removeprefix(".")
        if kind not in ("jsonl", "txt"):
            raise InputError(f"decontaminate.against: {name} is neither .jsonl nor .txt")
        found = False
        seen: dict[str, None] = {}
        for number, line in enumerate(read_lines(Path(name)), 1):
            place = f"{name}:{number}"
            text = _example_text(line, settings.fields, place, seen) if kind == "jsonl" else line
            if text.strip():
                found = True
                yield place, text
        if not found:
            fields = f" in {', '.join(settings.fields)}; its fields are {', '.join(seen)}" if seen else ""
            raise InputError(f"decontaminate.against: {name} has no text{fields}")


def _example_text(line: str, fields: Sequence[str], place: str, seen: dict[str, None]) -> str:
    """The texts of a line's fields; `seen` collects the names of all that there are."""
    if not line.strip():
        return ""
    try:
        value = json.loads(line)
    except ValueError as error:
        raise InputError(f"{place}: not a line of JSON ({error})") from None
    if isinstance(value, dict):
        seen.update(dict.fromkeys(value))
    if fields and isinstance(value, dict):
        value = [value.get(name) for name in fields]
    return "\n".join(_strings(value))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _units(text: Text, settings: Decontaminate, tokenizer: Tokenizer | None) -> Units:
    if tokenizer is not None:
        # A lone surrogate has no UTF-8: one "?" takes its place, so that offsets stay.
        encoding = tokenizer.encode(text.text.encode("utf-8", "replace").decode(), add_special_tokens=False)
        offsets = np.array(encoding.offsets, np.int64).reshape(-1, 2)
        return Units(np.array(encoding.ids, np.uint64), offsets[:, 0], offsets[:, 1])
    folded, begins, ends, places = fold(text.codes, _fold_table(), table(), settings.unit == "characters")
    hashes = word_hashes(folded, Words(begins, ends))
    return Units(hashes, places[begins].astype(np.int64), places[ends - 1].astype(np.int64) + 1)


def _open_tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    if not path.is_file():
        raise InputError(f"decontaminate.tokenizer: {path} does not exist")
    return Tokenizer.from_file(str(path))


@cache
def _fold_table() -> Codes:
    """(code points,) _BREAK for white space and punctuation, _SKIP for accents, else without case and accent."""
    folded = np.arange(CODE_POINTS, dtype=np.uint32)
    for code in range(ASSIGNED):
        character = chr(code)
        if unicodedata.category(character) == "Mn":
            folded[code] = _SKIP
        elif not 0x3400 <= code < 0xD7B0:
            plain = [
                c for c in unicodedata.normalize("NFD", character.lower()) if unicodedata.category(c) != "Mn"
            ]
            if len(plain) == 1:
                folded[code] = ord(plain[0])
    folded[(table() & (SPACE | PUNCTUATION)) != 0] = _BREAK
    return folded


@njit(cache=True, nogil=True)
def fold(
    codes: Codes, folded: Codes, flags: npt.NDArray[np.uint8], single: bool
) -> tuple[Codes, Offsets, Offsets, Offsets]:
    """What is left of a text (N,) after folding, begin and end in it of each word, and where each code point stood.

    `single`: every code point is a word of its own; else those of scripts without spaces are.
    """
    kept = np.empty(codes.size, np.uint32)
    places = np.empty(codes.size, np.int32)
    begins = np.empty(codes.size, np.int32)
    ends = np.empty(codes.size, np.int32)
    count, words = 0, 0
    inside = False
    for position in range(codes.size):
        code = folded[codes[position]]
        if code == _BREAK:
            inside = False
        elif code != _SKIP:
            alone = single or (flags[codes[position]] & UNSPACED) != 0
            if alone or not inside:
                begins[words] = count
                words += 1
            kept[count] = code
            places[count] = position
            count += 1
            ends[words - 1] = count
            inside = not alone
    return kept[:count], begins[:words], ends[:words], places[:count]
