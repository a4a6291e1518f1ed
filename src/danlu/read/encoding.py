"""Bytes to text: strict UTF-8, stray bytes replaced and counted, another encoding refused with the guess to set.

Decides: a text with more broken than sound multi-byte sequences is in another encoding and is refused, never read as
rubbish; one with fewer is UTF-8 that was damaged, and its bad bytes become U+FFFD. The guess decodes a sample with
each candidate and looks for the characters that fill real text of that script. Costs: one C pass for sound text.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from danlu.errors import InputError

_SAMPLE_BYTES = 1 << 16
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
_BOMS = ((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def decode(data: bytes, source: str, start: int = 0) -> tuple[str, int]:
    """The text of UTF-8 bytes and how many bad sequences became U+FFFD.

    Raises InputError that names the guessed encoding where the bytes are in another one.
    """
    try:
        return data.decode("utf-8"), 0
    except UnicodeDecodeError as error:
        bad = error.start
    text = data.decode("utf-8", "replace")
    sound = len(_MULTIBYTE.findall(data))
    replaced = text.count("\ufffd") - data.count("\ufffd".encode())
    if sound > replaced:
        return text, replaced
    first = max(0, bad - _SAMPLE_BYTES // 2)
    # The start of the file tells more than its middle where a byte order mark may be.
    guess = guess_encoding(data[:_SAMPLE_BYTES]) or guess_encoding(data[first : first + _SAMPLE_BYTES])
    todo = (
        f'it looks like {guess}: set encoding = "{guess}" in its [[corpus.source]]'
        if guess
        else "it does not look like text in any encoding known here: leave it out, or set encoding = to its name"
    )
    raise InputError(f"{source} is not UTF-8 (byte 0x{data[bad]:02x} at {start + bad}); {todo}")


def guess_encoding(sample: bytes) -> str | None:
    """The encoding that a sample looks like, or None; a guess is only ever shown, never acted on."""
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
