"""Bytes to text: strict UTF-8, stray bytes replaced and counted, another encoding refused with the guess to set.

Decides for a file, never for a line of it: one with more broken than sound multi-byte sequences, and more than one in a
thousand bytes, is in another encoding and is refused, never read as rubbish; one with fewer is UTF-8 that was damaged,
and its bad bytes become U+FFFD. A single stray byte refuses nothing. The guess decodes a sample with each candidate and
looks for the characters that fill real text of that script. Books and papers, which may say their encoding, are read in
what they say or in the guess (`decode_declared`). A file of lines, which may be read in parts, is judged by
its first JUDGED_BYTES alone (`formats/streams.py`). What is no text in any encoding is told by its first HEAD_BYTES
(`sign_of_binary`). Costs: one C pass for sound text.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import NamedTuple

from danlu.errors import InputError

JUDGED_BYTES = 1 << 22
HEAD_BYTES = 1 << 16
_SAMPLE_BYTES = 1 << 16
_STRAY_SHARE = 0.001
"""Bad sequences a byte up to which they are damage: normalising keeps a text with that many."""
_NUL_SHARE = 0.1
"""NUL and control characters a byte up to which sound UTF-8 with NULs in it is a text that something damaged."""
_NO_LEAD = bytes([*range(0xC0), *range(0xF8, 0x100)])
"""All but the first bytes of multi-byte sequences, to count those."""
_MULTIBYTE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An encoding and what text decoded with it looks like.

    `share`: how much of the non-ASCII text `common` must fill; `density`: how much of the text is not ASCII.
    """

    encoding: str
    common: re.Pattern[str]
    share: float
    density: float = 0.0


_CANDIDATES = (
    _Candidate("euc_kr", re.compile("[가-힣]"), 0.8),
    _Candidate("shift_jis", re.compile("[ぁ-ん]"), 0.2),
    _Candidate("euc_jp", re.compile("[ぁ-ん]"), 0.2),
    _Candidate(
        "gb18030", re.compile("[的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年，。]"), 0.08
    ),
    _Candidate(
        "big5", re.compile("[的一是不了在人有我他這中大來上國個到說們為子和你地出道也時年，。]"), 0.08
    ),
    _Candidate("cp1251", re.compile("[а-яё]"), 0.6, density=0.4),
    _Candidate("cp1252", re.compile("[À-ÖØ-öø-ÿŒœŠšŽž‘’“”–—…«»°©®€£§¿¡ºª\xa0]"), 0.7),
)
_CONTEXT_BYTES = 1 << 12
"""Before the first foreign byte, so that a foreign word is not taken for a foreign text."""
_UTF8 = ("utf-8", "utf8")
_WESTERN = "cp1252"
"""What is not even printable in Latin-1 is most likely this."""
_MAGICS = {
    b"%PDF": "PDF",
    b"PK\x03\x04": "ZIP (also EPUB and DOCX)",
    b"\x1f\x8b": "gzip",
    b"(\xb5/\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"7z\xbc\xaf": "7z",
    b"\x89PNG": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"GIF8": "GIF",
    b"\x7fELF": "ELF",
    b"\xd0\xcf\x11\xe0": "old Office",
    b"SQLite format 3": "SQLite",
    b"PAR1": "Parquet",
}
"""The first bytes of files that are no text, whatever they are called."""
_PLAIN_MAGICS = (b"BZh", b"GIF8", b"PAR1", b"SQLite format 3")
"""Those that a text may begin with; what follows decides."""
_CONTROLS = bytes([*range(1, 8), *range(14, 26), *range(28, 32)])
_CONTROL_SHARE = 0.02
"""Control characters a byte from which bytes that are not UTF-8 are no text: random ones have a tenth."""
_BOMS = ((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


class Decoder:
    """Decodes the texts of one file, and judges the file by all that it has seen of it.

    Raises InputError that names the guessed encoding where the file is in another one: as soon as `_SAMPLE_BYTES` have
    shown it, or at `finish`, the end of the file.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._read = self._sound = self._bad = 0
        self._first = ""
        self._head = b""
        self._sample = b""

    def decode(self, data: bytes, start: int = 0) -> tuple[str, int]:
        """The text of UTF-8 bytes, which begin at byte `start`, and how many bad sequences became U+FFFD."""
        self._head = self._head or data[:_SAMPLE_BYTES]
        self._read += len(data)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            return self._replaced(data, start, error.start)
        if not text.isascii():
            self._sound += len(data.translate(None, _NO_LEAD))
        return text, 0

    def _replaced(self, data: bytes, start: int, place: int) -> tuple[str, int]:
        """What `decode` returns for bytes with a bad one at `place`, which is evidence against the file."""
        text, replaced = _replace(data)
        self._sound += len(_MULTIBYTE.findall(data))
        self._bad += replaced
        self._first = self._first or f"byte 0x{data[place]:02x} at {start + place}"
        self._sample += data[max(0, place - _SAMPLE_BYTES // 2) :][: _SAMPLE_BYTES - len(self._sample)]
        if self._read >= _SAMPLE_BYTES or self._is_marked():
            self.finish()
        return text, replaced

    def finish(self) -> None:
        """Judges the file by what was decoded so far."""
        marked = self._bad > 0 and self._is_marked()
        if marked or self._bad > max(1, self._sound, _STRAY_SHARE * self._read):
            self._refuse(guess_encoding(self._head if marked else self._sample))

    def _is_marked(self) -> bool:
        return any(self._head.startswith(mark) for mark, _ in _BOMS)

    def _refuse(self, guess: str | None) -> None:
        todo = (
            f'it looks like {guess}: set encoding = "{guess}" in its [[corpus.source]]'
            if guess
            else "it does not look like text in any encoding known here: leave it out, or set encoding = to its name"
        )
        raise InputError(f"{self._source} is not UTF-8 ({self._first}); {todo}")


def sign_of_binary(head: bytes, encoding: str = "utf-8") -> str:
    """Why a file with these first HEAD_BYTES is no text in any encoding; "" where it may be one.

    `encoding` is the declared one; NUL bytes speak for nothing in UTF-16 and UTF-32. A few stray ones in UTF-8 are
    damage in a text, as other stray bytes are.
    """
    begin = next((mark for mark in _MAGICS if head.startswith(mark)), None)
    if begin and begin not in _PLAIN_MAGICS:
        return f"it begins as {_MAGICS[begin]} does"
    if any(head.startswith(mark) for mark, _ in _BOMS):
        return ""
    is_utf8 = _is_utf8(head)
    if begin and not is_utf8:
        return f"it begins as {_MAGICS[begin]} does"
    if codecs.lookup(encoding).name.startswith(("utf-16", "utf-32")):
        return ""
    nuls = head.count(0)
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if nuls and (not is_utf8 or nuls + controls > _NUL_SHARE * len(head)):
        return f"NUL bytes in its first {len(head)} bytes: {nuls}"
    if not is_utf8 and controls > _CONTROL_SHARE * len(head):
        return f"control characters in its first {len(head)} bytes: {controls}"
    return ""


def _is_utf8(head: bytes) -> bool:
    """Whether bytes are UTF-8, but for a character that their end cuts."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def decode_line(data: bytes) -> tuple[str, int]:
    """What `Decoder.decode` returns, of bytes that speak neither for nor against a file."""
    try:
        return data.decode("utf-8"), 0
    except UnicodeDecodeError:
        return _replace(data)


def _replace(data: bytes) -> tuple[str, int]:
    text = data.decode("utf-8", "replace")
    return text, text.count("\ufffd") - data.count("\ufffd".encode())


def decode(data: bytes, source: str, start: int = 0) -> tuple[str, int]:
    """A whole file at once: its text and how many bad sequences became U+FFFD. Raises InputError as Decoder does."""
    decoder = Decoder(source)
    decoded = decoder.decode(data, start)
    decoder.finish()
    return decoded


class Decoded(NamedTuple):
    """A text, how many places of it became U+FFFD, and its encoding where that was guessed, else ""."""

    text: str
    replaced: int
    guessed: str = ""


def decode_declared(data: bytes, declared: str = "") -> Decoded:
    """A whole file that is UTF-8, damaged UTF-8, or in an encoding that it declares; else in the guessed one."""
    try:
        return Decoded(data.decode("utf-8-sig"), 0)
    except UnicodeDecodeError as error:
        first = error.start
    text, replaced = _replace(data)
    if declared in _UTF8 or len(_MULTIBYTE.findall(data)) > replaced:
        return Decoded(text.removeprefix("\ufeff"), replaced)
    # From a line's beginning, where a character begins in every encoding but those that a mark names.
    is_marked = any(data.startswith(mark) for mark, _ in _BOMS)
    start = 0 if is_marked else data.rfind(b"\n", 0, max(0, first - _CONTEXT_BYTES)) + 1
    guessed = "" if declared else guess_encoding(data[start : start + _SAMPLE_BYTES]) or _WESTERN
    text = data.decode(declared or guessed, "replace")
    return Decoded(text, text.count("\ufffd"), guessed)


def guess_encoding(sample: bytes) -> str | None:
    """The encoding that a sample looks like, or None."""
    for mark, encoding in _BOMS:
        if sample.startswith(mark):
            return encoding
    if b"\0" in sample:
        return None
    for candidate in _CANDIDATES:
        decoder = codecs.getincrementaldecoder(candidate.encoding)()
        try:
            text = decoder.decode(sample)
        except UnicodeDecodeError:
            continue
        foreign = sum(not character.isascii() for character in text)
        common = len(candidate.common.findall(text))
        if foreign and common >= candidate.share * foreign and foreign >= candidate.density * len(text):
            return candidate.encoding
    printable = not re.search(rb"[\x00-\x08\x0e-\x1f\x7f-\x9f]", sample)
    return "latin-1" if printable else None
