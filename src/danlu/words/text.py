"""One document's text on its way through the steps; what is derived from it is computed once.

Decides: which splitter makes its words. "auto" goes by the language, and where that is unknown by the script:
`CHARACTERS_SHARE` of the letters in scripts without spaces. "plain" and "spacy" hold for every document.
Guarantees: words are in order and do not overlap; code point arrays are writable copies, never views of the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from danlu.words.classes import UNSPACED, table

WordsSetting = Literal["auto", "plain", "spacy"]
Splitter = Literal["plain", "characters", "spacy"]

UNSPACED_CODES = (
    "zh ja th lo km my bo dz ii yue wuu lzh gan hak nan cdo shn zho cmn jpn tha lao khm mya bod dzo"
)
UNSPACED_LANGUAGES = frozenset(UNSPACED_CODES.split())
"""Languages written without spaces, by the codes of two and of three letters that identifiers give."""
CHARACTERS_SHARE = 0.3
NO_METADATA: Mapping[str, str] = MappingProxyType({})


class Words(NamedTuple):
    """Code point offsets of W words."""

    starts: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]


class Measured(NamedTuple):
    """What a step found: the text that goes on (the same object where nothing was rewritten) and its measures."""

    text: Text
    values: tuple[float, ...]


def encode(text: str) -> npt.NDArray[np.uint32]:
    """The code points of a text (N,), lone surrogates and NUL included."""
    # An array of one string holds exactly that; ten times as fast as encoding to UTF-32.
    return np.array([text]).view(np.uint32) if text else np.empty(0, np.uint32)


class Text:
    """A text with its language ("" unknown, else as the identifier names it), metadata, code points and words."""

    __slots__ = (
        "_codes",
        "_language",
        "_splitter",
        "_utf8_bytes",
        "_words",
        "metadata",
        "text",
        "words_setting",
    )

    def __init__(
        self,
        text: str,
        language: str = "",
        metadata: Mapping[str, str] = NO_METADATA,
        words_setting: WordsSetting = "auto",
    ) -> None:
        self.text = text
        self.metadata = metadata
        self.words_setting: WordsSetting = words_setting
        self._language = language
        self._codes: npt.NDArray[np.uint32] | None = None
        self._splitter: Splitter | None = None
        self._utf8_bytes = -1
        self._words: Words | None = None

    @property
    def language(self) -> str:
        """Empty where it is unknown, else as the identifier of languages names it."""
        return self._language

    @language.setter
    def language(self, language: str) -> None:
        """Drop the words: another language may want another splitter."""
        self._language = language
        self._splitter = None
        self._words = None

    @property
    def codes(self) -> npt.NDArray[np.uint32]:
        """The code points, (N,)."""
        if self._codes is None:
            self._codes = encode(self.text)
        return self._codes

    @property
    def utf8_bytes(self) -> int:
        """Its size; a lone surrogate counts as three bytes."""
        if self._utf8_bytes < 0:
            text = self.text
            self._utf8_bytes = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        return self._utf8_bytes

    @property
    def splitter(self) -> Splitter:
        """Which splitter makes the words."""
        if self._splitter is None:
            self._splitter = self._choose_splitter()
        return self._splitter

    @property
    def splitter_used(self) -> Splitter | Literal[""]:
        """The splitter that a step asked for; "" where none has."""
        return self._splitter or ""

    @property
    def words(self) -> Words:
        """The words by the chosen splitter."""
        if self._words is None:
            self._words = split(self.codes, self.splitter)
        return self._words

    def with_text(self, new: str) -> Text:
        """Another text of the same document."""
        return Text(new, self._language, self.metadata, self.words_setting)

    def _choose_splitter(self) -> Splitter:
        if self.words_setting != "auto":
            return self.words_setting
        if self._language:
            return "characters" if self._language in UNSPACED_LANGUAGES else "plain"
        if self.text.isascii():
            return "plain"
        from danlu.words.plain import unspaced_share

        return "characters" if unspaced_share(self.codes, table()) > CHARACTERS_SHARE else "plain"


def split(codes: npt.NDArray[np.uint32], splitter: Splitter) -> Words:
    """The words of a text by one splitter."""
    # Imported here: command lines that split nothing do not wait for the kernels' compiler.
    if splitter == "spacy":
        from danlu.words.spacy_english import split_english

        return split_english(codes)
    from danlu.words.plain import split_runs

    return Words(*split_runs(codes, table(), UNSPACED if splitter == "characters" else 0))
