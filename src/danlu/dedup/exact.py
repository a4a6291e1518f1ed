"""Equal text: the key that equal documents share, and the pieces of a text that are compared instead of the whole.

Decides: documents are equal by the SHA-256 of the text, with every run of white space as one space unless told
otherwise; repeats.py keeps its first 128 bits, and of a piece the 128 bits of xxh3, which is no cryptographic hash.
Lines of white space alone are no pieces. Guarantee: pieces are cut at their own bounds, never inside a line (or
sentence). Costs: about 80 MB/s for documents, 30 for lines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from danlu.dedup.contract import Spans
from danlu.dedup.settings import Boilerplate, Exact
from danlu.words.text import Text

SENTENCES = 3
"""Sentences in a run that is compared: C4 (Raffel et al. 2020, section 2.2)."""


def exact_key(text: str, settings: Exact) -> bytes:
    """The 32 bytes that stand for a text."""
    same = " ".join(text.split()) if settings.ignore_white_space else text
    return hashlib.sha256(same.encode("utf-8", "surrogatepass")).digest()


def pieces(text: Text, settings: Exact | Boilerplate) -> Spans:
    """The pieces that a step compares, in code points [start, end), in order; runs of sentences overlap."""
    if isinstance(settings, Boilerplate):
        lines = _lines(text.text)
        least = settings.min_characters
        return [(start, end) for start, end in lines if len(text.text[start:end].strip()) >= least]
    if settings.unit == "sentences":
        found = _sentence_runs(text)
    else:
        found = list((_lines if settings.unit == "line" else _paragraphs)(text.text))
    return [(start, end) for start, end in found if end - start >= settings.min_characters]


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Where the lines lie that are not blank."""
    position = 0
    for line in text.split("\n"):
        if line and not line.isspace():
            yield position, position + len(line)
        position += len(line) + 1


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Runs of lines without a blank line between them."""
    begin, reach = -1, -1
    for start, end in _lines(text):
        if begin >= 0 and start != reach + 1:
            yield begin, reach
            begin = -1
        begin, reach = (start if begin < 0 else begin), end
    if begin >= 0:
        yield begin, reach


def _sentence_runs(text: Text) -> Spans:
    """Every `SENTENCES` sentences that follow one another; none in a text with fewer."""
    # Imported here: only this unit waits for the kernels' compiler.
    from danlu.words.sentences import sentence_ends

    spans, position = [], 0
    for end in sentence_ends(text).tolist():
        sentence = text.text[position:end]
        if sentence.strip():
            spans.append((end - len(sentence.lstrip()), position + len(sentence.rstrip())))
        position = end
    return [(start, end) for (start, _), (_, end) in zip(spans, spans[SENTENCES - 1 :], strict=False)]
