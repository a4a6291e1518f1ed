"""Source code: files of very long lines, of data, of few letters, and files that a program wrote.

Decides: the file rules of The Stack and StarCoder (Li et al. 2023) and StarCoder2 (Lozhkov et al. 2024, section 2.4):
longest and mean line, letters and digits, runs of encoded data, phrases in the first lines. Minified files are found
by their mean line. Documents of prose or data (`code_language` in the metadata) may have long lines. Costs: 20 MB/s,
most of it for runs of hexadecimal digits.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from itertools import islice

import numpy as np
import numpy.typing as npt

from danlu.rules.settings import Code
from danlu.words.classes import ALPHA, DIGIT, table
from danlu.words.text import Measured, Text

MEASURES: tuple[str, ...] = (
    *("lines", "max_line_length", "mean_line_length", "alphanumeric_share"),
    *("encoded_share", "encoded_run", "generated", "text_language"),
)

_BASE64 = np.zeros(128, np.bool_)
_BASE64[[ord(character) for character in string.ascii_letters + string.digits + "+/\n="]] = True
_BASE64_RUN = 64
_HEXADECIMAL = re.compile(r"(?:\b(?:0x|\\x)?[0-9A-Fa-f]{2}(?:,\s*+|\b\s*+)){8,}+")
_ESCAPED = re.compile(r"(?:\\u[0-9A-Fa-f]{4}){8,}+")
_SOURCE_MAP = re.compile(r"^[/*]{2}[#@] source(?:Mapping)?URL=", re.MULTILINE)
_LAST_CHARACTERS = 2000


def measure(text: Text, settings: Code) -> Measured:
    """The eight measures; a text language and a generated file are 1, else 0."""
    characters = max(len(text.text), 1)
    lengths = list(map(len, text.text.splitlines()))
    letters = np.count_nonzero(table()[text.codes] & np.uint8(ALPHA | DIGIT))
    share, run = _encoded(text)
    language = text.metadata.get("code_language", "").lower()
    values = (
        *(float(len(lengths)), float(max(lengths, default=0)), sum(lengths) / max(len(lengths), 1)),
        *(letters / characters, share / characters, float(run)),
        *(float(_is_generated(text.text, settings)), float(language in settings.text_languages)),
    )
    return Measured(text, tuple(map(float, values)))


def decide(values: Sequence[float], settings: Code) -> str:
    """ "" keeps; else the first rule that is broken."""
    lines, longest, mean, letters, encoded, run, generated, is_text = values
    if generated == 1:
        return "generated"
    if lines > settings.max_lines:
        return "too_many_lines"
    # What is not a number was not measured: no sign of prose.
    is_prose = is_text == 1
    if longest > (settings.max_text_line_length if is_prose else settings.max_line_length):
        return "long_line"
    if mean > settings.max_mean_line_length and not is_prose:
        return "long_mean_line"
    if letters < settings.min_alphanumeric_share:
        return "few_letters"
    if encoded > settings.max_encoded_share or run > settings.max_encoded_run:
        return "encoded_data"
    return ""


def _encoded(text: Text) -> tuple[int, int]:
    """Characters in runs of the kind of encoded data that the text has most of; the longest run of any kind."""
    kinds = [_base64_runs(text.codes), [len(run[0]) for run in _HEXADECIMAL.finditer(text.text)]]
    if "\\u" in text.text:
        kinds.append([len(run[0]) for run in _ESCAPED.finditer(text.text)])
    return max(map(sum, kinds)), max(max(runs, default=0) for runs in kinds)


def _base64_runs(codes: npt.NDArray[np.uint32]) -> list[int]:
    """Lengths of the runs of letters, digits, + / = and line feeds that are long enough to be data."""
    others = np.flatnonzero(~_BASE64[np.minimum(codes, 127)])
    lengths = np.diff(others, prepend=-1, append=codes.size) - 1
    return [int(length) for length in lengths[lengths >= _BASE64_RUN]]


def _is_generated(text: str, settings: Code) -> bool:
    if not settings.generated_marks:
        return False
    head = "\n".join(islice(text[: settings.generated_lines * 1000].splitlines(), settings.generated_lines))
    head = head.lower()
    return any(mark.lower() in head for mark in settings.generated_marks) or bool(
        _SOURCE_MAP.search(text, max(len(text) - _LAST_CHARACTERS, 0))
    )
