"""Wikitext to text: the sections of an article with their heading paths, and its categories.

Decides: the grammar is mwparserfromhell's; what links, templates and tags give is in wiki_nodes.py and wikitext.toml.
Sections that list links or references are left out with all below them, by the headings of the article's language.
Of -{spellings for regions}- in Chinese and others the simplified or the first one is taken. Guarantees: the result
depends on the wikitext alone. Costs: mwparserfromhell, 0.4-0.8 MB/s.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from danlu.dumps.wiki_lines import CONTROLS, to_paragraphs
from danlu.dumps.wiki_nodes import Reader, tables
from danlu.extract.section import Extracted, Section

_FILES = (
    "file",
    "image",
    "media",
    "datei",
    "bild",
    "fichier",
    "archivo",
    "文件",
    "檔案",
    "图像",
    "圖像",
    "ファイル",
    "画像",
)
_CATEGORIES = ("category", "分类", "分類")
_VARIANT = re.compile(r"-\{(?!\{)([^{}]*)\}-")
_WITH_VARIANTS = frozenset({"zh", "sr", "sh", "kk", "ku", "uz", "iu", "shi", "gan", "crh", "tg"})
_SPELLING = re.compile(r"\s*([a-z]{2,3}(?:-[a-z]+)*)\s*:(.*)", re.DOTALL)
_PREFERRED = ("zh-hans", "zh-cn", "zh", "sr-ec")
_HIDDEN_FLAGS = frozenset("HT-")


def pack(
    wikitext: str, language: str, file_names: Sequence[str] = (), category_names: Sequence[str] = ()
) -> bytes:
    """An article as `extract` reads it: JSON."""
    value = {
        "wikitext": wikitext,
        "language": language,
        "files": [*file_names],
        "categories": [*category_names],
    }
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def extract(markup: bytes) -> Extracted:
    """The sections of a packed article, and `categories` (joined by "; ") as metadata.

    Raises ValueError where it is no article, ImportError where mwparserfromhell is not installed.
    """
    value = json.loads(markup)
    return convert(value["wikitext"], value["language"], value["files"], value["categories"])


def convert(
    wikitext: str, language: str, file_names: Sequence[str], category_names: Sequence[str]
) -> Extracted:
    """The sections of an article's wikitext; names of namespaces are those of its site, beside the common ones.

    Raises ImportError where mwparserfromhell is not installed.
    """
    import mwparserfromhell

    tongue = language.partition("-")[0]
    text = wikitext.translate(CONTROLS).replace("\r\n", "\n")
    if tongue in _WITH_VARIANTS:
        text = _VARIANT.sub(_choose_variant, text)
    reader = Reader(_folded((*_FILES, *file_names)), _folded((*_CATEGORIES, *category_names)))
    left_out = frozenset(tables()["headings"]["en"]) | frozenset(tables()["headings"].get(tongue, ()))
    code: Any = mwparserfromhell.parse(text, skip_style_tags=False)
    sections: list[Section] = []
    headings: list[tuple[int, str]] = []
    parts: list[str] = []

    def close() -> None:
        found = to_paragraphs("".join(parts), reader.kept)
        path = tuple(heading for _, heading in headings)
        if found and not any(heading.lower().rstrip(":：") in left_out for heading in path):
            sections.append(Section(path, found))
        parts.clear()

    for node in code.nodes:
        title = ""
        if type(node).__name__ == "Heading":
            title = " ".join(to_paragraphs(reader.read(node.title).strip(), reader.kept).split())
        if not title:
            parts.append(reader.read_node(node))
            continue
        close()
        while headings and headings[-1][0] >= node.level:
            headings.pop()
        headings.append((node.level, title))
    close()
    categories = "; ".join(dict.fromkeys(filter(None, reader.categories)))
    return Extracted(tuple(sections), {"categories": categories} if categories else {})


def _folded(names: Sequence[str]) -> frozenset[str]:
    return frozenset(name.casefold() for name in names)


def _choose_variant(match: re.Match[str]) -> str:
    """The text of -{zh-hans:A;zh-hant:B}-, or of -{text}-; rules for the page alone show nothing."""
    flags, bar, body = match[1].rpartition("|")
    if bar and _HIDDEN_FLAGS & set(flags):
        return ""
    spellings = [found for part in body.split(";") if (found := _SPELLING.fullmatch(part))]
    if not spellings:
        return body
    by_code = {found[1]: found[2].strip() for found in spellings}
    return next((by_code[code] for code in _PREFERRED if code in by_code), spellings[0][2].strip())
