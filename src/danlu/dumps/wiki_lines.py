"""Marked lines of wikitext to paragraphs: lists, preformatted lines, and the gaps that dropped markup leaves.

Decides: lines of one paragraph are joined, paragraphs stand apart by a blank line; items of lists are lines with "- "
or their number, two spaces deeper at each level; a line that begins with a space is kept as it is; notes, tags and rows
of tables that the parser could not read go. Brackets, commas and spaces around what was dropped go with it: "Lima (/x/;
b. 1)" without the sound is "Lima (b. 1)", while "f()" stays. Guarantees: linear time. Costs: little beside the parser.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

LIST, KEPT, DROPPED, BREAK = "\x00", "\x01", "\x02", "\x03"
"""Marks: of an item's level, around the number of a kept text, in place of what was dropped, of a line's end."""
CONTROLS = dict.fromkeys(range(9))
"""For str.translate: takes out what could be taken for a mark. XML allows none of them."""

_GAP = re.compile(f"[ ,;，；、{DROPPED}]+")
_BRACKETS = re.compile(f" ?[(（]([ ,;，；、{DROPPED}]+)[)）]")
_SEPARATOR = re.compile(r"[,;，；、]")
_KEPT = re.compile(f"{KEPT}([0-9]+){KEPT}")
_SWITCH = re.compile(r"__[A-Z]+__")
_UNREAD_NOTE = re.compile(r"<ref\b[^<>]*>(?:[^<]|<(?!/?ref))*</ref\s*>", re.IGNORECASE)
_UNREAD_TAG = re.compile(
    r"</?(?:ref|references|small|big|div|span|center|font|br|sub|sup|p|i|b|u|s|nowiki|noinclude|onlyinclude|li|ul|ol)"
    r"\b[^<>]*>",
    re.IGNORECASE,
)
_SPACES = re.compile(r"[ \t\xa0]+")
_EMPHASIS = re.compile(r"'{2,5}")
_AROUND_BREAK = re.compile(f" ?{BREAK} ?")
_OPENING, _CLOSING = frozenset(f"(（[「『“{BREAK}"), frozenset(f")）].。:：」』”{BREAK}")
_PROSE, _ITEM, _AS_IT_IS = " ", "\n", "\n "
"""Kinds of lines; the last character of the first two, and the newline of the third, join lines of a block."""


def to_paragraphs(text: str, kept: Sequence[str]) -> str:
    """The plain text of marked wikitext; `kept` are the texts that KEPT marks stand for."""
    blocks: list[tuple[str, list[str]]] = []
    kind = ""
    numbers: list[int] = []
    text = _UNREAD_TAG.sub(DROPPED, _UNREAD_NOTE.sub(DROPPED, _SWITCH.sub(DROPPED, text)))
    for line in text.split("\n"):
        before, kind = kind, _kind(line)
        numbers = numbers if kind == _ITEM else []
        shown = _show(line, kind, numbers)
        if not shown:
            continue
        if kind != before or not blocks:
            blocks.append((kind, []))
        blocks[-1][1].append(shown)
    joined = "\n\n".join(kind[0].join(lines) for kind, lines in blocks)
    return restore(_AROUND_BREAK.sub("\n", joined), kept).strip("\n")


def restore(text: str, kept: Sequence[str]) -> str:
    """A text with the kept ones in place of their marks."""
    return _KEPT.sub(lambda match: kept[int(match[1])], text)


def tidy(line: str) -> str:
    """A line of prose without the gaps around what was dropped."""
    line = _EMPHASIS.sub("", line)
    line = _BRACKETS.sub(lambda match: DROPPED if DROPPED in match[1] else match[0], line)
    return _SPACES.sub(" ", _GAP.sub(_close_gap, line)).strip()


def _kind(line: str) -> str:
    if line.startswith(LIST):
        return _ITEM
    seen = line.replace(DROPPED, "").strip()
    if not seen or seen.startswith(("|", "{|")):
        return ""
    return _AS_IT_IS if line.startswith(" ") else _PROSE


def _show(line: str, kind: str, numbers: list[int]) -> str:
    if kind == _ITEM:
        return _item(line, numbers)
    if kind == _AS_IT_IS:
        return line.replace(DROPPED, "")[1:].rstrip()
    return tidy(line) if kind else ""


def _item(line: str, numbers: list[int]) -> str:
    """One item with its bullet or number; `numbers` are the counts of the levels above and its own."""
    place = 0
    levels = ""
    while line.startswith(LIST, place):
        levels += line[place + 1 : place + 2]
        place += 2
    # "; term : meaning" has a mark within the line.
    text = tidy(re.sub(f" ?{LIST}(.) ?", r"\1 ", line[place:]))
    if not text:
        return ""
    del numbers[len(levels) :]
    numbers += [0] * (len(levels) - len(numbers))
    numbers[-1] = numbers[-1] + 1 if levels[-1] == "#" else 0
    bullet = {"*": "- ", "#": f"{numbers[-1]}. "}.get(levels[-1], "")
    return "  " * (len(levels.strip(":;")) - 1) + bullet + text


def _close_gap(match: re.Match[str]) -> str:
    run = match[0]
    if DROPPED not in run:
        return run
    line, start, end = match.string, match.start(), match.end()
    before, after = line[max(0, start - 1) : start], line[end : end + 1]
    if not before or not after or before in _OPENING or after in _CLOSING:
        return ""
    separator = _SEPARATOR.search(run)
    return (separator[0] if separator else "") + (" " if " " in run else "")
