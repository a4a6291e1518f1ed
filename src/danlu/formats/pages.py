"""Web pages to documents: a file of HTML each, or the records of a WARC or WET file.

Decides: a page's text is what the extractor finds in it; an answer of a server that is no page (another media type, a
status other than 200, no text in it) is counted as a damage with its address; requests, metadata and other records
about records hold no text and are passed over. A record's id and address are kept. Costs: the extractor.
"""

from __future__ import annotations

from collections.abc import Iterator

from danlu.extract.guard import ExtractionError, Extractor
from danlu.extract.packed import Read
from danlu.extract.warc import Block, MalformedError, Record, parse_record, read_blocks
from danlu.formats.raw import Damage, Raw
from danlu.formats.streams import read_whole

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_ANSWERS = frozenset({"response", "resource"})
_TEXT = "conversion"
_OK = 200


def read_page(read: Read, name: str, extractor: Extractor, limit: int) -> Iterator[Raw | Damage]:
    """One file of HTML."""
    span = read_whole(read, limit)
    if span.data is None:
        yield Damage("too_long", name, detail=f"longer than {limit} bytes")
        return
    yield _extract(span.data, name, extractor, Block(0, span.end), "", group=name)


def read_archive(read: Read, name: str, extractor: Extractor, limit: int) -> Iterator[Raw | Damage]:
    """The pages, or the texts, of one archive; byte ranges are those of the records."""
    for block in read_blocks(read, limit):
        if block.broken:
            yield Damage(block.broken, name, detail=f"bytes {block.start} to {block.end}")
            continue
        try:
            record = parse_record(block.data, limit)
        except MalformedError as error:
            yield Damage("malformed_record", name, detail=f"bytes {block.start} to {block.end}: {error}")
            continue
        if record.kind == _TEXT:
            yield _text(record, block, name, limit)
        elif record.kind in _ANSWERS:
            yield _page(record, block, name, extractor, limit)


def _text(record: Record, block: Block, name: str, limit: int) -> Raw | Damage:
    if len(record.content) > limit:
        return Damage("too_long", name, detail=f"{record.url}: longer than {limit} bytes")
    text = record.content.decode("utf-8", "replace")
    if not text or text.isspace():
        return Damage("no_text", name, detail=record.url)
    replaced = text.count("\ufffd") - record.content.count("\ufffd".encode())
    said = {"url": record.url, "language": record.language}
    metadata = {key: value for key, value in said.items() if value}
    return Raw(text, name, block.start, block.end, id=record.id, replaced=replaced, metadata=metadata)


def _page(record: Record, block: Block, name: str, extractor: Extractor, limit: int) -> Raw | Damage:
    if record.status not in (None, _OK):
        return Damage("http_status", name, detail=f"{record.url}: {record.status}")
    if record.media_type not in _HTML:
        return Damage("not_html", name, detail=f"{record.url}: {record.media_type or 'no media type'}")
    if len(record.content) > limit:
        return Damage("too_long", name, detail=f"{record.url}: longer than {limit} bytes")
    return _extract(record.content, name, extractor, block, record.url, record.id, charset=record.charset)


def _extract(
    data: bytes,
    name: str,
    extractor: Extractor,
    block: Block,
    url: str,
    number: str | None = None,
    group: str | None = None,
    charset: str = "",
) -> Raw | Damage:
    try:
        page = extractor.extract(data, charset)
    except ExtractionError as error:
        return Damage("extraction_failed", name, detail=f"{url or name}: {error}")
    if not page.text or page.text.isspace():
        return Damage("no_text", name, detail=f"{url or name}: no main text in {len(data)} bytes")
    metadata = {key: value for key, value in (("url", url), ("title", page.title)) if value}
    return Raw(page.text, name, block.start, block.end, group, number, page.replaced, metadata)
