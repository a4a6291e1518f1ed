"""Text that was written as UTF-8 and read as Windows-1252 or Latin-1 ("cafÃ©"), made what it was ("café").

Decides: a run of characters beyond ASCII that are bytes of UTF-8 in those encodings is repaired where it is certain:
by a sequence that no language writes ("Ã©", "â€™"), by two characters that come out of one run, or where all the
different runs of a text, or of a line, are such. "liberté»…" is such bytes too, and stays. Twice misread text is
repaired twice. Guarantees: without such a run, the same text; nothing but such runs changes; once repaired, a text
stays as it is. Costs: nothing for ASCII, else 300 MB/s where there is nothing to repair. Other ways to lose
characters (UTF-8 read as GBK, spaces put for bytes) are not undone.
"""

from __future__ import annotations

import re

_C1 = {byte: bytes([byte]).decode("cp1252", "ignore") for byte in range(0x80, 0xA0)}
_TO_BYTE = {ord(character): byte for byte, character in _C1.items() if character}
_SPECIAL = "".join(map(chr, _TO_BYTE))
"""What Windows-1252 has where Latin-1 has control characters: € ‚ ƒ „ … and so on."""
_NEXT = f"[\x80-\xbf{_SPECIAL}]"
_CANDIDATE = re.compile(f"[\xc2-\xf4]{_NEXT}")
_RUN = re.compile(f"[\x80-\xff{_SPECIAL}]+")
_FOREIGN = re.compile(f"[^\x00-\xff{_SPECIAL}]")
_CERTAIN = re.compile(
    # « » ª º may follow a capital: IRMÃ».
    "[ÂÃ][\xa0-\xa9\xac-\xb9\xbc-\xbf]|(?<=[a-z])Ã[ªº«»]|Ã[ªº«»](?=[a-z])"
    f"|â[€\x80]{_NEXT}|ð[Ÿ\x9f]{_NEXT}{{2}}|ï»¿"
)


def repair(text: str) -> str:
    """The repaired text; the same one where nothing is certainly misread."""
    # Every repair makes the text shorter, so that this ends.
    while not text.isascii() and _CANDIDATE.search(text):
        repaired = _repair_all(text) or "\n".join(map(_repair_line, text.split("\n")))
        if repaired == text:
            break
        text = repaired
    return text


def _repair_all(part: str) -> str | None:
    """The part with every run read again; None where one cannot be, or where there is but one: it may be chance."""
    if _FOREIGN.search(part):
        return None
    runs = {match[0]: _read_again(match[0]) for match in _RUN.finditer(part)}
    if len(runs) < 2 or None in runs.values():
        return None
    return _RUN.sub(lambda match: runs[match[0]] or "", part)


def _repair_line(line: str) -> str:
    if not _CANDIDATE.search(line):
        return line
    certain = [match.start() for match in _CERTAIN.finditer(line)]

    def choose(run: re.Match[str]) -> str:
        again = _read_again(run[0])
        if again is None:
            return run[0]
        is_certain = len(again) > 1 or any(run.start() <= place < run.end() for place in certain)
        return again if is_certain else run[0]

    return _repair_all(line) or _RUN.sub(choose, line)


def _read_again(run: str) -> str | None:
    """The run's bytes read as UTF-8; None where they are none."""
    try:
        return run.translate(_TO_BYTE).encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return None
