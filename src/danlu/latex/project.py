r"""A paper of several files to sections: which file is the main one, what it reads in, and what it says of itself.

Decides: the main file is the one that arXiv's 00README names, else, of those with \documentclass and
\begin{document} that no other reads in and that are no subfiles, one of a usual name, else the longest with what
it reads; others are counted. A file is UTF-8, or what its inputenc says, or guessed, which is counted. Costs: 0.5 MB/s
of source in all, and 100 bytes of memory for each of its bytes.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence

from danlu.extract.encoding import decode_declared
from danlu.extract.section import Extracted
from danlu.latex.macros import Expander
from danlu.latex.scan import Token, declared_verbatim, scan
from danlu.latex.text import Facts, to_text

_MAIN = re.compile(r"^[ \t]*\\document(?:class|style)\b", re.MULTILINE)
_BODY = re.compile(r"^[^%\n]*\\begin\s*\{document\}", re.MULTILINE)
_PART = re.compile(
    r"^[^%\n]*\\documentclass\s*(?:\[[^\]]{0,200}\])?\s*\{(?:subfiles|standalone)\}", re.MULTILINE
)
_READS = re.compile(
    r"\\(?:input|include|subfile|subimport|import)\s*(?:\{([^{}\n]{0,200})\}|([^\s{}\\]{1,200}))"
)
_INPUT_ENCODING = re.compile(rb"\\usepackage\s*\[([A-Za-z0-9]{1,20})\]\s*\{inputenc\}")
_TOP_LEVEL = re.compile(r"^\s*(\S+)\s+toplevelfile", re.MULTILINE)
_CODECS = {
    "latin1": "cp1252",
    "latin9": "iso8859-15",
    "latin2": "iso8859-2",
    "ansinew": "cp1252",
    "applemac": "mac_roman",
    "cp1251": "cp1251",
    "koi8-r": "koi8_r",
    "cp1250": "cp1250",
    "gbk": "gb18030",
}
_USUAL_NAMES = ("main", "ms", "paper", "article", "manuscript", "arxiv", "root", "thesis", "book")
_SOURCE_ENDINGS = (".tex", ".ltx", ".latex", "")
_MOST_NAMED = 20


def extract(files: Mapping[str, bytes]) -> Extracted:
    """The sections of a paper from its files, path -> bytes (`unpack`, or a folder's).

    Metadata: title, author ("; " between them), date, keywords. Damages: unknown_macro, missing_file, macro_limit,
    unclosed_formula, guessed_encoding, other_document. Raises ValueError where no file is a LaTeX source.
    """
    decoded = {name: decode_declared(data, _declared(data)) for name, data in files.items()}
    texts = {posixpath.normpath(name): found.text for name, found in decoded.items()}
    damages = [
        ("guessed_encoding", f"{name}: {found.guessed}") for name, found in decoded.items() if found.guessed
    ]
    main, others = find_main(texts)
    verbatim = frozenset[str]().union(*map(declared_verbatim, texts.values()))
    finder = _Finder(texts, main, verbatim)
    expander = Expander(finder.find, sum(map(len, texts.values())))
    tokens = expander.run(scan(texts[main], verbatim))
    sections, facts = to_text(tokens, expander.definitions.theorems)
    if others:
        damages.append(("other_document", _listed(others)))
    if expander.missing:
        damages.append(("missing_file", _listed(expander.missing)))
    if expander.refused:
        damages.append(("macro_limit", _listed(f"{name} {n}" for name, n in expander.refused.most_common())))
    damages += _unknown(facts)
    replaced = sum(found.replaced for found in decoded.values())
    return Extracted(sections, facts.metadata, tuple(damages), replaced)


def find_main(texts: Mapping[str, str]) -> tuple[str, list[str]]:
    """The main file of a paper, and the other files that are documents of their own.

    Raises ValueError where there is no LaTeX source.
    """
    sources = [name for name in texts if posixpath.splitext(name)[1].lower() in _SOURCE_ENDINGS]
    read = {name: {_stem(other) for other in _read_in(texts[name])} for name in sources}
    read_by_others = set().union(*(stems - {_stem(name)} for name, stems in read.items()))
    mains = [name for name in sources if _MAIN.search(texts[name])]
    whole = [name for name in mains if _BODY.search(texts[name]) and not _PART.search(texts[name])]
    free = [name for name in whole if _stem(name) not in read_by_others]
    candidates = free or whole or mains or [name for name in sources if "\\" in texts[name]]
    if not candidates:
        raise ValueError("no file of it is a LaTeX source")
    sizes = {_stem(name): len(texts[name]) for name in sources}

    def weight(name: str) -> tuple[bool, int, str]:
        """A usual name, then how much it holds with what it reads."""
        held = len(texts[name]) + sum(sizes.get(stem, 0) for stem in read[name])
        return _stem(name) in _USUAL_NAMES, held, name

    main = _named_in_readme(texts) or max(candidates, key=weight)
    return main, [name for name in free if name != main]


def _stem(name: str) -> str:
    """The name of a file without its folder and .tex, in lower case."""
    return re.sub(r"\.(?:tex|ltx|latex)$", "", posixpath.basename(name).lower())


def _read_in(text: str) -> Iterable[str]:
    return ((match[1] or match[2] or "").strip() for match in _READS.finditer(text))


def _named_in_readme(texts: Mapping[str, str]) -> str:
    for name, text in texts.items():
        if posixpath.basename(name).upper().startswith("00README"):
            for match in _TOP_LEVEL.finditer(text):
                if match[1] in texts:
                    return match[1]
    return ""


class _Finder:
    """Finds the files that a paper reads: from its root, the main file's folder, or the folder of any."""

    def __init__(self, texts: Mapping[str, str], main: str, verbatim: frozenset[str]) -> None:
        self._texts = texts
        self._folder = posixpath.dirname(main)
        self._verbatim = verbatim
        self._by_name: dict[str, str] = {}
        self._scanned: dict[tuple[str, bool], Sequence[Token]] = {}
        for name in texts:
            self._by_name.setdefault(posixpath.basename(name), name)

    def find(self, command: str, name: str) -> Sequence[Token] | None:
        """The tokens of a file that a command names; of a subfile its body."""
        endings = (".sty",) if command in ("usepackage", "RequirePackage") else (".tex", "", ".ltx")
        for ending in endings:
            for place in (name + ending, posixpath.join(self._folder, name + ending)):
                path = posixpath.normpath(place)
                path = path if path in self._texts else self._by_name.get(posixpath.basename(path), "")
                if path:
                    return self._tokens(path, ending == ".sty")
        return None

    def _tokens(self, path: str, is_style: bool) -> Sequence[Token]:
        if (path, is_style) not in self._scanned:
            self._scanned[path, is_style] = self._scan(path, is_style)
        return self._scanned[path, is_style]

    def _scan(self, path: str, is_style: bool) -> Sequence[Token]:
        text = self._texts[path]
        body = _BODY.search(text) if _PART.search(text) else None
        if body:
            text = text[body.end() :].partition("\\end{document}")[0]
        return scan(text, self._verbatim, at_is_letter=is_style)


def _declared(data: bytes) -> str:
    """The encoding that inputenc names, "" where that is none known here."""
    declared = _INPUT_ENCODING.search(data)
    return _CODECS.get(declared[1].decode().lower(), "") if declared else ""


def _unknown(facts: Facts) -> list[tuple[str, str]]:
    damages = []
    if facts.unknown:
        damages.append(("unknown_macro", _listed(f"{name} {n}" for name, n in facts.unknown.most_common())))
    if facts.unclosed:
        damages.append(("unclosed_formula", f"{facts.unclosed}"))
    return damages


def _listed(names: Iterable[str]) -> str:
    """The first names of a row, and how many more there are."""
    found = list(names)
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return ", ".join(found[:_MOST_NAMED]) + more
