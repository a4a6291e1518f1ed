"""Project Gutenberg's texts without its notices: metadata from the header, chapters as sections, paragraphs unwrapped.

Decides: the book stands between the START and END lines, or, in texts of the 1990s, behind "*END*THE SMALL PRINT" and
before "End of the Project Gutenberg Etext"; credits of who produced it go too. A chapter begins with a heading of its
own kind (CHAPTER IV, BOOK TWO, 第三回), or capitals, behind at least two empty lines; the contents, in which the same
words stand close together, is text. A text without those lines is kept whole, with a damage. A file is one book: each
further START line is a damage with its line. What is not UTF-8 is read in the encoding that its header names, else in
the one that it looks like, which is counted. Costs: 5-10 MB/s.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from danlu.extract.encoding import decode_declared
from danlu.extract.section import Extracted
from danlu.publications.blocks import HEADING, PARAGRAPH, Block, to_sections
from danlu.publications.lines import Words, text_width, unwrap

_PROJECT = r"(?:THE |THIS |OF )*PROJECT GUTENBERG"
_START = re.compile(
    rf"\s*\*\*\* ?START OF {_PROJECT}|\s*\*{{1,3}} ?END ?\*? ?THE SMALL PRINT|\s*\*END THE SMALL PRINT",
    re.IGNORECASE,
)
_END = re.compile(
    rf"\s*\*\*\* ?END OF {_PROJECT}|\s*(?:\*+ ?)?End of (?:this |the )?Project Gutenberg|"
    r"\s*\*\*\*START\*\*THE SMALL PRINT",
    re.IGNORECASE,
)
_FIRST = re.compile(rf"\s*\*\*\* ?START OF {_PROJECT}", re.IGNORECASE)
_LAST = re.compile(rf"\s*\*\*\* ?END OF {_PROJECT}", re.IGNORECASE)
_CREDIT = re.compile(
    r"(?:This (?:etext|e-?book) was |E-?text |E-?book |HTML version )?(?:Produced|Prepared|Transcribed|Scanned|Created|"
    r"Typed|Digitized)\b.{0,40}?\bby\b|(?:E-?text|Credits?) (?:prepared|by|:)|Distributed Proofread|This file was "
    r"produced from images|\(This (?:file|book) was produced",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"(Title|Author|Translator|Editor|Illustrator|Language|Release Date|Posting Date): *(\S.*)", re.I
)
_NUMBER = re.compile(r"\[(?:E-?text|E-?book) ?#? ?(\d+)\]", re.IGNORECASE)
_OLD_TITLE = re.compile(
    r"\**\s*(?:The )?Project Gutenberg(?:'s)? (?:E-?text|E-?book)?(?: of|'s|,)? ?(?P<title>.+?)"
    r"(?:, by (?P<author>.+?))?\s*\**$",
    re.IGNORECASE,
)
_CHARSET = re.compile(
    rb"Character set encoding:[^\r\n]{0,30}?\b(utf-?8|iso-8859-(?:1[013456]|[1-9])|(?:windows-|cp)125[0-8]|big5|gb2312|"
    rb"gbk|gb18030|shift_jis|euc-jp|euc-kr|koi8-r|latin-?1)\b",
    re.IGNORECASE,
)
_WIDER = {
    "iso-8859-1": "cp1252",
    "latin-1": "cp1252",
    "latin1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
}
"""What texts that name the narrower encoding are in: they also have its own quotation marks, or characters."""
_HEADER_BYTES = 40_000
_HEADER_LINES, _CREDIT_BLOCKS = 600, 6
_MARK_LINES = 20
_CODES = """catalan=ca chinese=zh danish=da dutch=nl english=en esperanto=eo finnish=fi french=fr german=de greek=el
hungarian=hu italian=it japanese=ja latin=la norwegian=no polish=pl portuguese=pt russian=ru spanish=es swedish=sv
tagalog=tl welsh=cy"""
_LANGUAGES = dict(pair.split("=") for pair in _CODES.split())
_NUMERAL = r"(?:[IVXLCDM]+|\d+|(?:THE )?[A-Z]+(?:[- ][A-Z]+)?)"
_PARTS = re.compile(
    rf"(?:BOOK|PART|VOLUME|ACT|LIVRE|TOME|PARTIE|BUCH|TEIL|LIBRO|PARTE)\.? {_NUMERAL}\b", re.IGNORECASE
)
_CHAPTERS = re.compile(
    rf"(?:CHAPTER|ADVENTURE|SCENE|STAVE|LETTER|CANTO|SECTION|CHAPITRE|KAPITEL|CAP[IÍ]TULO|CAPITOLO|LUKU) {_NUMERAL}\b|"
    r"(?:PREFACE|INTRODUCTION|PROLOGUE|EPILOGUE|CONCLUSION|APPENDIX|AFTERWORD|FOREWORD|POSTSCRIPT)\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(r"第[〇零一二三四五六七八九十百千两兩\d]{1,7}([卷部集]|[章回節节])")
_ROMAN = re.compile(r"[IVXLC]{1,7}\.?")
_HEADING_LINES, _HEADING_CHARACTERS = 3, 80
_PART_LEVEL, _CHAPTER_LEVEL, _NUMBER_LEVEL = 1, 2, 3


class _Paragraph(NamedTuple):
    lines: list[str]
    empty_before: int


def extract(data: bytes) -> Extracted:
    """The sections and the metadata of a file of Project Gutenberg in whatever encoding."""
    said = _CHARSET.search(data[:_HEADER_BYTES])
    name = said[1].decode().lower() if said else ""
    decoded = decode_declared(data, _WIDER.get(name, name))
    found = extract_text(decoded.text)
    damages = [("guessed_encoding", decoded.guessed)] if decoded.guessed else []
    return replace(found, damages=(*found.damages, *damages), replaced=decoded.replaced)


def extract_text(text: str) -> Extracted:
    """The sections and the metadata of a text of Project Gutenberg; one without its marks is kept whole, and said."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    begin, end, damages = _book(lines)
    metadata = _metadata(lines[: begin or 0])
    paragraphs = list(_paragraphs(lines[begin:end]))
    if begin:
        paragraphs = _without_credits(paragraphs)
    blocks = [paragraph.lines for paragraph in paragraphs]
    width = text_width(blocks)
    words = Words([line for block in blocks for line in block])
    kept = []
    for paragraph in paragraphs:
        level = _heading_level(paragraph)
        if level:
            kept.append(Block(HEADING, " ".join(" ".join(paragraph.lines).split()), level))
        else:
            kept.append(Block(PARAGRAPH, unwrap(paragraph.lines, width, words).strip("\n")))
    return Extracted(tuple(to_sections(kept)), metadata, tuple(damages))


def _book(lines: Sequence[str]) -> tuple[int, int, list[tuple[str, str]]]:
    """First and last line of the first book, which of its marks are missing, and where other books begin."""
    damages = []
    header = lines[:_HEADER_LINES]
    header = header[: next((number for number, line in enumerate(header) if _LAST.match(line)), len(header))]
    starts = [number for number, line in enumerate(header) if _START.match(line)]
    marks = [number for number in starts if _FIRST.match(lines[number])]
    for before, mark in pairwise(marks):
        # A mark that is merely said again has next to nothing before it.
        if sum(bool(line.strip()) for line in lines[before:mark]) > _MARK_LINES:
            starts = starts[: starts.index(mark)]
            break
    begin = starts[-1] + 1 if starts else 0
    if starts:
        # The mark may run on for a line or two: to the next empty one.
        while begin < len(lines) and lines[begin].strip() and lines[begin - 1].count("*") % 6 == 3:
            begin += 1
    else:
        damages.append(("no_start_mark", f"none of Project Gutenberg's in the first {_HEADER_LINES} lines"))
    others = [number for number in range(begin, len(lines)) if _FIRST.match(lines[number])]
    limit = others[0] if others else len(lines)
    ends = (number for number in range(begin, limit) if _END.match(lines[number]))
    end = next(ends, limit)
    damages += [("another_book", f"begins in line {number + 1}; its text is not read") for number in others]
    if end == limit:
        damages.append(("no_end_mark", "no END line of Project Gutenberg"))
    return begin, end, damages


def _metadata(header: Sequence[str]) -> dict[str, str]:
    metadata: dict[str, str] = {}
    last = ""
    for line in header:
        field = _FIELD.match(line)
        if field:
            last = field[1].lower().replace(" ", "_")
            metadata.setdefault(last, _NUMBER.sub("", field[2]).strip())
        elif last and line.startswith("  ") and line.strip():
            metadata[last] += " " + line.strip()
        else:
            last = ""
        number = _NUMBER.search(line)
        if number:
            metadata.setdefault("number", number[1])
    old = next((match for line in header[:5] if (match := _OLD_TITLE.match(line.strip()[:200]))), None)
    if old and "title" not in metadata:
        metadata["title"] = old["title"]
        metadata |= {"author": old["author"]} if old["author"] else {}
    if "language" in metadata:
        metadata["language"] = _LANGUAGES.get(metadata["language"].lower(), metadata["language"])
    date = metadata.pop("release_date", "") or metadata.pop("posting_date", "")
    metadata.pop("posting_date", None)
    return metadata | ({"date": date} if date else {})


def _paragraphs(lines: Sequence[str]) -> Iterator[_Paragraph]:
    """Blocks of lines that stand together, and how many empty lines stood before."""
    block: list[str] = []
    # The beginning is as good as empty lines.
    empty, before = 2, 0
    for line in [*lines, ""]:
        if line.strip():
            if not block:
                before, empty = empty, 0
            block.append(line)
            continue
        if block:
            yield _Paragraph(block, before)
            block = []
        empty += 1


def _without_credits(paragraphs: list[_Paragraph]) -> list[_Paragraph]:
    first = paragraphs[:_CREDIT_BLOCKS]
    kept = [paragraph for paragraph in first if not _CREDIT.match(" ".join(paragraph.lines).strip())]
    return kept + paragraphs[_CREDIT_BLOCKS:]


def _heading_level(paragraph: _Paragraph) -> int:
    """0 for text."""
    lines = [line.strip() for line in paragraph.lines]
    if len(lines) > _HEADING_LINES or max(map(len, lines)) > _HEADING_CHARACTERS:
        return 0
    text = " ".join(lines)
    chinese = _CHINESE.match(text)
    if chinese:
        return _PART_LEVEL if chinese[1] in "卷部集" else _CHAPTER_LEVEL
    if _ROMAN.fullmatch(text):
        return _NUMBER_LEVEL
    if paragraph.empty_before < 2:
        return 0
    if text.endswith((",", ";")) or text.count(".") > 3:
        return 0
    if _PARTS.match(text):
        return _PART_LEVEL
    if _CHAPTERS.match(text) or (text.isupper() and not text.endswith((":", "-"))):
        return _CHAPTER_LEVEL
    return 0
