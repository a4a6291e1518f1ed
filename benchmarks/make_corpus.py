"""Builds a real corpus of tens of megabytes in a dozen languages from Debian's documentation packages.

Packages are downloaded with apt-get and unpacked with dpkg, never installed. HTML goes through resiliparse, manual
pages through mandoc and are unwrapped into paragraphs, dictionaries are cut into groups of entries. Every choice is
sorted, then shuffled by a fixed seed, so that the same packages give the same bytes. Writes to OUTPUT:

  corpus.jsonl   {"id", "text", "source", "language"}: one document a line
  html/          raw pages for the extraction benchmark
  planted.jsonl  {"id", "text", "original", "rate"}: 1,500 originals and 1,500 copies in which a share of the words
                 (0, 0.5, 1, 2, 5 or 10 %, 250 copies each) is replaced by other words of the corpus

Costs: about 400 MB of downloads, 1.4 GB unpacked, three minutes of one core.
Run:  python benchmarks/make_corpus.py OUTPUT [--root FOLDER_OF_UNPACKED_PACKAGES] [MORE.jsonl.gz ...]
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resiliparse.extract.html2text import extract_plain_text

SEED = 1
PAGES_PER_SOURCE = 40
RATES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1)
COPIES_PER_RATE = 250
PLANTED_WORDS = range(80, 1201)
ENTRIES_PER_DOCUMENT = 12
SMALLEST_PAGE_BYTES = 500
_NAVIGATION = re.compile(r"/(genindex|search|src/|contents)")

Named = Iterator[tuple[str, str]]
"""Names and texts of documents, in order."""


@dataclass(frozen=True)
class Source:
    """A folder of one package, how its files become documents, and how many bytes are taken."""

    package: str
    kind: str
    language: str
    limit_mb: float = 1.4
    folder: str = ""

    @property
    def name(self) -> str:
        """What the documents' source field says."""
        return f"{self.package}:{self.language}" if self.folder else self.package


_HANDBOOK = "usr/share/doc/debian-handbook/html"
_INSTALLATION = "usr/share/doc/installation-guide-amd64"
_GNOME = "usr/share/help"

SOURCES = (
    Source("linux-doc-6.1", "html", "en", 7.0),
    Source("python3.11-doc", "html", "en", 5.0),
    Source("postgresql-doc-15", "html", "en", 4.0),
    Source("rust-doc", "html", "en", 3.5),
    Source("git-doc", "html", "en"),
    Source("debian-policy", "html", "en"),
    Source("developers-reference", "html", "en"),
    *(
        Source("debian-handbook", "html", folder[:2], 0.7, f"{_HANDBOOK}/{folder}")
        for folder in ("en-US", "zh-CN", "ja-JP", "fr-FR", "ar-MA", "vi-VN")
    ),
    *(
        Source("installation-guide-amd64", "html", folder[:2], 0.5, f"{_INSTALLATION}/{folder}")
        for folder in ("en", "ko", "zh_CN", "ru")
    ),
    *(
        Source(f"libreoffice-help-{suffix}", "html", suffix[:2])
        for suffix in ("en-us", "zh-cn", "ja", "ko", "de", "ru", "hi")
    ),
    Source("debian-reference-zh-cn", "html", "zh"),
    Source("debian-reference-ja", "html", "ja"),
    Source("manpages", "man", "en"),
    Source("manpages-dev", "man", "en"),
    *(Source(f"manpages-{language}", "man", language) for language in ("ja", "zh", "de", "fr", "ru", "es")),
    Source("dict-gcide", "dictionary", "en", 3.5),
    Source("dict-foldoc", "dictionary", "en"),
    Source("dict-jargon", "dictionary", "en"),
    *(
        Source(
            "gnome-user-docs", "mallard", "en" if folder == "C" else folder[:2], 0.35, f"{_GNOME}/{folder}"
        )
        for folder in ("C", "de", "fr", "es", "ja", "zh_CN", "ru", "ko", "pt_BR", "el", "hi", "ta", "fa")
    ),
    Source("fortunes", "fortunes", "en", 0.4),
    Source("fortunes-zh", "fortunes", "zh", 0.4),
)


def fetch(packages: list[str], root: Path) -> None:
    """Downloads and unpacks what is not yet under root, each package into a folder of its name."""
    for package in packages:
        place = root / package
        if place.is_dir():
            continue
        downloads = root / f".{package}"
        downloads.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", "-q", package], cwd=downloads, check=True)
        (archive,) = downloads.glob("*.deb")
        subprocess.run(["dpkg", "-x", str(archive), str(downloads / "unpacked")], check=True)
        (downloads / "unpacked").rename(place)
        shutil.rmtree(downloads)


def files_of(folder: Path, pattern: str, shuffled: bool = True) -> list[Path]:
    """The regular files that match, sorted, then shuffled by the seed."""
    paths = [path for path in sorted(folder.rglob(pattern)) if path.is_file() and not path.is_symlink()]
    if shuffled:
        random.Random(SEED).shuffle(paths)
    return paths


def decode(raw: bytes) -> str:
    """UTF-8, or Latin-1 where it is not."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def html_pages(folder: Path) -> list[Path]:
    """The pages of a package that are text and not navigation."""
    return [
        path
        for path in files_of(folder, "*.html")
        if not _NAVIGATION.search(path.as_posix()) and path.stat().st_size >= SMALLEST_PAGE_BYTES
    ]


def read_html(folder: Path) -> Named:
    """The main content of every page."""
    for path in html_pages(folder):
        text = extract_plain_text(decode(path.read_bytes()), main_content=True, alt_texts=False)
        yield str(path.relative_to(folder)), text


def read_man(folder: Path) -> Named:
    """Manual pages as mandoc prints them, their terminal lines joined into paragraphs again."""
    for path in files_of(folder / "usr/share/man", "*.gz"):
        roff = gzip.decompress(path.read_bytes())
        command = ["mandoc", "-T", "utf8", "-O", "width=100"]
        printed = subprocess.run(command, input=roff, capture_output=True, check=False).stdout
        plain = re.sub(r".\x08", "", printed.decode("utf-8", "replace"))
        yield str(path.relative_to(folder)), "\n\n".join(paragraphs(plain))


def paragraphs(text: str) -> list[str]:
    """What blank lines part, each on one line; empty ones are left out."""
    joined = (re.sub(r"\s+", " ", part).strip() for part in re.split(r"\n\s*\n", text))
    return [part for part in joined if part]


def read_dictionary(folder: Path) -> Named:
    """Groups of entries of a dictd file."""
    for path in files_of(folder, "*.dict.dz"):
        entries = re.split(r"\n\n+", gzip.decompress(path.read_bytes()).decode("utf-8", "replace"))
        for start in range(0, len(entries), ENTRIES_PER_DOCUMENT):
            yield f"{path.name}/{start}", "\n\n".join(entries[start : start + ENTRIES_PER_DOCUMENT])


def read_mallard(folder: Path) -> Named:
    """GNOME help pages without their markup."""
    for path in files_of(folder, "*.page"):
        markup = re.sub(r"<info>.*?</info>", "", path.read_text("utf-8", "replace"), flags=re.DOTALL)
        yield str(path.relative_to(folder)), "\n\n".join(paragraphs(re.sub(r"<[^>]+>", "", markup)))


def read_fortunes(folder: Path) -> Named:
    """Sayings between lines of one percent sign."""
    for path in files_of(folder / "usr/share/games/fortunes", "*"):
        if path.suffix:
            continue  # the index beside the sayings
        for number, saying in enumerate(path.read_text("utf-8", "replace").split("\n%\n")):
            yield f"{path.name}/{number}", saying


READERS: dict[str, Callable[[Path], Named]] = {
    "html": read_html,
    "man": read_man,
    "dictionary": read_dictionary,
    "mallard": read_mallard,
    "fortunes": read_fortunes,
}


def documents(source: Source, root: Path) -> Iterator[dict[str, Any]]:
    """The documents of a source, up to its limit."""
    folder = root / source.package / source.folder
    taken = 0
    for name, text in READERS[source.kind](folder):
        text = text.strip()
        if not text:
            continue
        taken += len(text.encode("utf-8", "replace"))
        if taken > source.limit_mb * 1e6:
            return
        yield {
            "id": f"{source.name}/{name}",
            "text": text,
            "source": source.name,
            "language": source.language,
        }


def more_documents(path: Path) -> Iterator[dict[str, Any]]:
    """The documents of a jsonl file given by the user, compressed or not."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    for number, line in enumerate(text.rstrip("\n").split("\n"), 1):
        row = json.loads(line)
        yield {
            "id": f"{path.name}/{number}",
            "text": row["text"],
            "source": f"{path.name.partition('.')[0]}:{row.get('domain', '')}",
            "language": row.get("lang", "")[:2],
        }


def write_corpus(output: Path, root: Path, more: list[Path]) -> list[dict[str, Any]]:
    """Writes corpus.jsonl and prints a line a source; returns all documents."""
    written: list[dict[str, Any]] = []
    parts = [(source.name, documents(source, root)) for source in SOURCES]
    parts += [(path.name, more_documents(path)) for path in more]
    with (output / "corpus.jsonl").open("w", encoding="utf-8") as file:
        for name, part in parts:
            before, size = len(written), 0
            for row in part:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                size += len(row["text"].encode("utf-8", "replace"))
                written.append(row)
            print(f"{name:34}{size / 1e6:7.2f} MB{len(written) - before:7} documents", flush=True)
    return written


def write_pages(output: Path, root: Path) -> int:
    """Copies the first pages of every HTML source to html/; returns their number."""
    folder = output / "html"
    folder.mkdir(exist_ok=True)
    pages = [
        path
        for source in SOURCES
        if source.kind == "html"
        for path in html_pages(root / source.package / source.folder)[:PAGES_PER_SOURCE]
    ]
    for number, path in enumerate(pages):
        shutil.copyfile(path, folder / f"{number:04d}.html")
    return len(pages)


def plant(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """English originals of ordinary length, and a copy of each with a known share of its words replaced."""
    chance = random.Random(11)
    usable = [row for row in rows if row["language"] == "en" and len(row["text"].split()) in PLANTED_WORDS]
    chance.shuffle(usable)
    vocabulary = sorted({word for row in usable[:2000] for word in row["text"].split() if word.isalpha()})
    planted = []
    for number, row in enumerate(usable[: COPIES_PER_RATE * len(RATES)]):
        rate = RATES[number % len(RATES)]
        words = [
            chance.choice(vocabulary) if chance.random() < rate else word for word in row["text"].split(" ")
        ]
        planted.append({"id": f"o{number}", "text": row["text"], "original": "", "rate": None})
        planted.append({"id": f"p{number}", "text": " ".join(words), "original": f"o{number}", "rate": rate})
    chance.shuffle(planted)
    return planted


def main() -> None:
    """Builds everything and prints what it is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path)
    parser.add_argument("more", type=Path, nargs="*", help="jsonl files whose documents are added")
    parser.add_argument("--root", type=Path, help="where packages are, or will be, unpacked")
    options = parser.parse_intermixed_args()
    root = options.root or options.output / "packages"
    options.output.mkdir(parents=True, exist_ok=True)
    if not shutil.which("mandoc"):
        raise SystemExit("mandoc is needed for the manual pages: apt-get install mandoc")
    fetch(sorted({source.package for source in SOURCES}), root)
    rows = write_corpus(options.output, root, options.more)
    planted = plant(rows)
    with (options.output / "planted.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in planted)
    data = (options.output / "corpus.jsonl").read_bytes()
    print(
        f"{len(rows)} documents, {len(data) / 1e6:.1f} MB of jsonl, sha256 {hashlib.sha256(data).hexdigest()}"
    )
    print(f"{write_pages(options.output, root)} raw pages, {len(planted)} planted documents")


if __name__ == "__main__":
    main()
