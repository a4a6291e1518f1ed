"""HTML to text: danlu's reader beside resiliparse and trafilatura called directly, on any folder of pages.

Decides: pages are drawn over the whole folder by the hash of their name; each road sees the same bytes. Reports how
many texts are the same, byte for byte, and MB of HTML a second of processor time of all processes, their start apart.
Usage: python benchmarks/html_pages.py FOLDER [--pages 200] [--extractors resiliparse trafilatura]
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import xxhash

from danlu.extract.guard import ExtractionError, Extractor
from danlu.extract.html import EXTRACTORS
from danlu.formats.raw import Damage
from danlu.read.settings import Source
from danlu.read.shards import plan_shards, read_shard


def draw(folder: Path, count: int) -> list[Path]:
    """`count` pages of a folder and all below it, in a fixed order."""
    paths = [path for path in folder.rglob("*.htm*") if path.is_file() and not path.is_symlink()]
    return sorted(paths, key=lambda path: xxhash.xxh64_intdigest(path.as_posix().encode()))[:count]


def direct(extractor: str) -> Callable[[bytes], str]:
    """The library called as its own documentation calls it."""
    if extractor == "trafilatura":
        from trafilatura import extract

        return lambda data: extract(data, favor_precision=True, include_comments=False) or ""
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import detect_encoding
    from resiliparse.parse.html import HTMLTree

    def by_resiliparse(data: bytes) -> str:
        encoding = detect_encoding(data, from_html_meta=True)
        return extract_plain_text(HTMLTree.parse_from_bytes(data, encoding), main_content=True)

    return by_resiliparse


def compare(pages: list[bytes], extractor: str) -> None:
    """Prints one line on an extractor."""
    call = direct(extractor)
    call(pages[0])
    begin = _seconds()
    expected = [call(page) for page in pages]
    theirs = _seconds() - begin
    start, _ = _guarded(pages[:1], extractor)
    ours, texts = _guarded(pages, extractor)
    size = sum(map(len, pages)) / 1e6
    same = sum(mine == other for mine, other in zip(texts, expected, strict=True))
    print(
        f"{extractor:12} {len(pages)} pages {size:.1f} MB: {same} texts the same; MB/s: called directly "
        f"{size / theirs:.2f}, guarded {size / (ours - start):.2f}; start {start:.2f} s"
    )


def _seconds() -> float:
    """Processor time of this process and of those that it started and that have ended."""
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def _guarded(pages: list[bytes], extractor: str) -> tuple[float, list[str | None]]:
    begin = _seconds()
    with Extractor(extractor) as guard:
        texts = [_text(guard, page) for page in pages]
    return _seconds() - begin, texts


def _text(extractor: Extractor, page: bytes) -> str | None:
    try:
        return extractor.extract(page).text
    except ExtractionError:
        return None


def read(paths: list[Path], extractor: str) -> None:
    """Prints one line on the whole road: files found, read, extracted, made documents."""
    source = Source(domain="pages", paths=[str(path) for path in paths], format="html", extractor=extractor)
    damages: list[Damage] = []
    begin = time.perf_counter()
    shards = plan_shards([source], Path(), 1 << 26)
    count = sum(
        1 for shard in shards for _ in read_shard(shard, [source], Path(), 20_000_000, damages.append)
    )
    seconds = time.perf_counter() - begin
    size = sum(shard.size for shard in shards) / 1e6
    reasons = dict(Counter(damage.reason for damage in damages))
    print(
        f"{extractor:12} as a source: {count} documents, damages {reasons}; {size / seconds:.2f} MB/s of wall time"
    )


def main() -> None:
    """Draws the pages and compares the extractors that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--extractors", nargs="+", choices=EXTRACTORS, default=list(EXTRACTORS))
    arguments = parser.parse_args()
    paths = draw(arguments.folder, arguments.pages)
    pages = [path.read_bytes() for path in paths]
    for extractor in arguments.extractors:
        compare(pages, extractor)
        read(paths, extractor)


if __name__ == "__main__":
    main()
