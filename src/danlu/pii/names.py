"""Names of people from the user's own lists.

Decides: a name in letters matches whole words, written as in the list or in capitals, so that Will is one and will is
not; a name with signs of a script without spaces matches anywhere. The longest name at a place counts. Guarantees: one
pass over the text, with at most as many look-ups at a place as the list's names have different lengths. Costs: some
4 MB/s; a list is read once a process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from danlu.errors import InputError
from danlu.extract.lines import read_lines
from danlu.pii.view import Item, View

ALL = "*"
MOST_CHARACTERS = 60
"""A longer line of a list is no name."""

_SIGNS = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Of scripts without spaces."""
_UNSPACED = re.compile(f"[{_SIGNS}]")
_LETTER = rf"[^\W\d_{_SIGNS}]"
_WORD = re.compile(rf"(?<![0-9_]){_LETTER}{{1,60}}(?:['’-]{_LETTER}{{1,60}}){{0,4}}")
_FLAT = str.maketrans({"’": "'", "\u00b7": "·", "•": "·"})


@dataclass(frozen=True, slots=True)
class Names:
    """Lists as the search needs them: what begins a name -> the lengths in code points of the names that do."""

    whole: frozenset[str]
    lengths: Mapping[str, tuple[int, ...]]
    """First word of a name in letters -> lengths, the longest first."""
    anywhere: Mapping[str, tuple[int, ...]]
    """First sign of the others -> lengths, the longest first."""
    first: re.Pattern[str] | None
    """One of the first signs."""


def load_names(names: Mapping[str, str], language: str) -> Names:
    """The lists for a document's language: its own and that for all; every list where the language is unknown.

    Raises InputError for a file that is missing, not UTF-8, empty, or has a line too long to be a name.
    """
    chosen = [path for code, path in sorted(names.items()) if not language or code in (language, ALL)]
    return _load(tuple((path, _changed_ns(path)) for path in chosen))


def forget_files() -> None:
    """The lists are read anew by the next text."""
    _load.cache_clear()


def find_names(view: View, names: Names) -> Iterator[Item]:
    """Listed names, apart from each other."""
    text, done = view.plain.translate(_FLAT) if names.whole else view.plain, 0
    for match in _WORD.finditer(text) if names.lengths else ():
        word = match.group()
        starts = (word,) if word.isalpha() else (word, word.partition("'")[0], word.partition("-")[0])
        for start in starts:
            # "Smith's" is Smith.
            lengths = names.lengths.get(start)
            end = (
                lengths
                and match.start() >= done
                and _longest(text, match.start(), lengths, names.whole, False)
            )
            if end:
                done = end
                yield Item(match.start(), end, "name")
                break
    done = 0
    for match in names.first.finditer(text) if names.first else ():
        if match.start() >= done:
            end = _longest(text, match.start(), names.anywhere[match.group()], names.whole, True)
            if end:
                done = end
                yield Item(match.start(), end, "name")


def _longest(text: str, start: int, lengths: tuple[int, ...], whole: frozenset[str], anywhere: bool) -> int:
    for length in lengths:
        if text[start : start + length] in whole and (anywhere or _ends(text, start + length)):
            return start + length
    return 0


def _ends(text: str, end: int) -> bool:
    following = text[end : end + 1]
    return following != "_" and (not following.isalpha() or _UNSPACED.match(following) is not None)


def _changed_ns(path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError as error:
        raise InputError(
            f"pii.names: {path} cannot be read: {error.strerror}; correct the path in the recipe"
        ) from error


@lru_cache(maxsize=32)
def _load(files: tuple[tuple[str, int], ...]) -> Names:
    entries = [entry for path, _ in files for entry in _read(path)]
    letters = [entry for entry in entries if not _UNSPACED.search(entry)]
    spelled = {*letters, *(entry.upper() for entry in letters if len(entry) > 1)}
    others = {entry for entry in entries if _UNSPACED.search(entry)}
    firsts = "".join(sorted({entry[0] for entry in others}))
    lengths: dict[str, set[int]] = {}
    for entry in spelled:
        word = _WORD.match(entry)
        assert word is not None
        lengths.setdefault(word.group().partition("'")[0].partition("-")[0], set()).add(len(entry))
        lengths.setdefault(word.group(), set()).add(len(entry))
    anywhere: dict[str, set[int]] = {}
    for entry in others:
        anywhere.setdefault(entry[0], set()).add(len(entry))
    return Names(
        frozenset(spelled | others),
        {word: tuple(sorted(found, reverse=True)) for word, found in lengths.items()},
        {sign: tuple(sorted(found, reverse=True)) for sign, found in anywhere.items()},
        re.compile(f"[{re.escape(firsts)}]") if firsts else None,
    )


def _read(path: str) -> Iterator[str]:
    found = False
    for number, line in enumerate(read_lines(Path(path)), 1):
        name = " ".join(line.partition("#")[0].split()).translate(_FLAT)
        if not name:
            continue
        if len(name) > MOST_CHARACTERS or not name[0].isalpha():
            raise InputError(
                f"pii.names: {path}, line {number}: {name[:40]!r} is no name: write one a line, beginning "
                f"with a letter, at most {MOST_CHARACTERS} characters"
            )
        found = True
        yield name
    if not found:
        raise InputError(f"pii.names: {path} has no name in it; write one a line, or take it out of names")
