"""Books and papers to text: what danlu finds in EPUB, PDF, DOCX and Project Gutenberg's files, and how fast.

Each file (also .gz) is read three times and the fastest counts, in processor time. With --same-as, a file of the same
work in a better format (the EPUB of a PDF), the table also says which share of that work's paragraphs of 80 and more
characters stands in the text as one whole paragraph, letters and digits compared: what lines, hyphens, page numbers
and running heads that are not undone would break. Plain PDFium is beside it: its lines, a paragraph where one is empty.

Run:  python benchmarks/publications.py FILE... [--same-as FILE]
"""

from __future__ import annotations

import argparse
import gzip
import re
import time
from collections.abc import Callable
from pathlib import Path

from danlu.extract.section import Extracted, join_sections
from danlu.publications import docx, epub, gutenberg, pdf
from danlu.publications.pdf_lines import read_layer
from machine import machine

LEAST_CHARACTERS = 80
EXTRACT: dict[str, Callable[[bytes], Extracted]] = {
    ".epub": epub.extract,
    ".pdf": pdf.extract,
    ".docx": docx.extract,
    ".txt": gutenberg.extract,
}
_TARGET = re.compile(r" \[https?://[^\]]*\]")
"""Behind a link, where it leads to: Sphinx writes it in an EPUB alone."""
_OTHER = re.compile(r"[\W_]+")


def read(path: Path) -> tuple[str, bytes]:
    """The format's extension, and the bytes without gzip."""
    if path.suffix == ".gz":
        return path.with_suffix("").suffix, gzip.decompress(path.read_bytes())
    return path.suffix, path.read_bytes()


def fastest(extract: Callable[[bytes], Extracted], data: bytes) -> tuple[Extracted, float]:
    """What is found, and the seconds of the best of three."""
    seconds = []
    for _ in range(3):
        start = time.process_time()
        found = extract(data)
        seconds.append(time.process_time() - start)
    return found, min(seconds)


def letters(paragraph: str) -> str:
    """What two typesettings of a paragraph have in common."""
    return _OTHER.sub("", _TARGET.sub("", paragraph)).lower()


def whole_share(wanted: list[str], text: str) -> float:
    """The share of paragraphs that a text has as its own."""
    have = {letters(paragraph) for paragraph in text.split("\n\n")}
    return sum(paragraph in have for paragraph in wanted) / max(1, len(wanted))


def plain_pdf(data: bytes) -> str:
    """PDFium's lines of every page, as it gives them."""
    return "\n\n".join("\n".join(line.text for line in page.lines) for page in read_layer(data).pages)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--same-as", type=Path)
    options = parser.parse_args()
    wanted: list[str] = []
    if options.same_as:
        kind, data = read(options.same_as)
        paragraphs = join_sections(EXTRACT[kind](data).sections).split("\n\n")
        wanted = [letters(paragraph) for paragraph in paragraphs if len(paragraph) >= LEAST_CHARACTERS]
    print(machine())
    print(
        f"{'file':36} {'MB':>6} {'text MB':>8} {'seconds':>8} {'text MB/s':>10} {'sections':>8} whole  damages"
    )
    for path in options.files:
        kind, data = read(path)
        found, seconds = fastest(EXTRACT[kind], data)
        text = join_sections(found.sections)
        size = len(text.encode("utf-8", "surrogatepass")) / 1e6
        whole = f"{whole_share(wanted, text):5.1%}" if wanted else "    -"
        print(
            f"{path.name[-36:]:36} {len(data) / 1e6:6.2f} {size:8.2f} {seconds:8.2f} {size / seconds:10.2f} "
            f"{len(found.sections):8} {whole} {'; '.join(map(': '.join, found.damages))}"
        )
        if wanted and kind == ".pdf":
            print(f"{'  plain PDFium':76} {whole_share(wanted, plain_pdf(data)):14.1%}")


if __name__ == "__main__":
    main()
