"""The main text of a web page: its bytes decoded as a browser would, then one of two extractors.

Decides: an encoding is what a byte order mark, the server, the page itself or its bytes say, in that order, unless the
bytes do not fit and another fits. The text is exactly resiliparse's (Bevendorff et al. 2018; main content, list
bullets, alternative texts) or trafilatura's (Barbaresi 2021; in favour of precision, without comments, as FineWeb).
Costs: resiliparse 10-30 MB/s of HTML, trafilatura 0.5-2.
"""

from __future__ import annotations

import codecs
import html
import re
from typing import Any, NamedTuple

EXTRACTORS = ("resiliparse", "trafilatura")

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_TITLE = re.compile(r"<title\b[^>]*>([^<]*)</title", re.IGNORECASE)


class Page(NamedTuple):
    """What is kept of a page; `replaced` counts undecodable places of the text that became U+FFFD."""

    title: str
    text: str
    replaced: int


def extract_page(data: bytes, declared: str, extractor: str) -> Page:
    """The title and main text of a page; `declared` is the server's charset, "" where it names none.

    Raises what the extractor raises, and may crash or hang as it does: `guard.Extractor` is the safe way in.
    """
    page, is_sound = decode_page(data, declared)
    text = _by_trafilatura(page) if extractor == "trafilatura" else _by_resiliparse(page)
    return Page(title_of(page), text, 0 if is_sound else text.count("\ufffd"))


def answer(data: bytes, declared: str, extractor: str) -> dict[str, Any]:
    """What the guarded process answers: a page as plain values."""
    return extract_page(data, declared, extractor)._asdict()


def load(extractor: str) -> None:
    """Imports what an extractor needs. Raises ImportError."""
    import resiliparse.extract.html2text
    import resiliparse.parse.encoding  # noqa: F401

    if extractor == "trafilatura":
        import trafilatura  # noqa: F401


def decode_page(data: bytes, declared: str) -> tuple[str, bool]:
    """The page as text, and whether all of its bytes could be decoded."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _decode(data[len(mark) :], [encoding])
    from resiliparse.parse.encoding import detect_encoding, map_encoding_to_html5

    given = [map_encoding_to_html5(declared, fallback_utf8=False)] if declared else []
    candidates = [*given, detect_encoding(data, from_html_meta=True), detect_encoding(data)]
    return _decode(data, [name for name in candidates if name])


def _decode(data: bytes, encodings: list[str]) -> tuple[str, bool]:
    """Text in the first encoding that fits; where none does, in the first with U+FFFD."""
    for encoding in encodings:
        try:
            return data.decode(encoding), True
        except (UnicodeDecodeError, LookupError):
            continue
    return data.decode("utf-8" if _is_unknown(encodings[0]) else encodings[0], "replace"), False


def _is_unknown(encoding: str) -> bool:
    try:
        codecs.lookup(encoding)
    except LookupError:
        return True
    return False


def title_of(page: str) -> str:
    """The first title element as plain text in one line, "" where there is none."""
    found = _TITLE.search(page)
    return " ".join(html.unescape(found[1]).split()) if found else ""


def _by_resiliparse(page: str) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    text: str = extract_plain_text(page, main_content=True)
    return text


def _by_trafilatura(page: str) -> str:
    from trafilatura import extract

    # Its own deduplication remembers earlier pages, so that the same page would not give the same text.
    return extract(page, favor_precision=True, include_comments=False, deduplicate=False) or ""
