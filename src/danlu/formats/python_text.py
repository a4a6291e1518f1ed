"""Text that every machine with Python carries: the standard library's sources, and prose about Python.

Decides: "python:stdlib" is every source file but tests, bundled wheels and generated data; "python:docs" is pydoc's
topics, the docstrings of each of those files as one text, and the README and licence texts of the packages that danlu
requires, so that whatever else is installed changes nothing.
Docstrings carry the name of their source file as their group, and all licences one group, so that neither is on both
sides of the split. Nothing that is read is imported or run. Costs: parsing for docstrings, about 4 MB/s of source.
"""

from __future__ import annotations

import ast
import csv
import importlib.metadata
import re
import sysconfig
import tokenize
import warnings
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path, PurePosixPath

from danlu.config import nearest
from danlu.errors import InputError
from danlu.extract.encoding import decode
from danlu.formats.raw import Damage, Raw
from danlu.formats.settings import PYTHON_SOURCES

STDLIB, DOCS = PYTHON_SOURCES
_PACKAGE = "danlu"
LICENCE_GROUP = "python:docs/licences"

_LEFT_OUT = frozenset(
    ("test", "tests", "idle_test", "site-packages", "dist-packages", "__pycache__", "ensurepip", "pydoc_data")
)
_GENERATED = re.compile(r"_sysconfigdata_.*\.py|config-.*")
_README = re.compile(r"(README|CHANGES|CHANGELOG|HISTORY|CONTRIBUTING)[\w.\-]*", re.IGNORECASE)
_LICENCE = re.compile(r"(LICEN[SC]E|COPYING|NOTICE|AUTHORS)[\w.\-]*", re.IGNORECASE)
_TEXT_SUFFIXES = frozenset(("", ".txt", ".md", ".rst"))
_MIN_DOCSTRING_CHARACTERS = 40
"""A shorter one ("See the base class.") says nothing by itself."""
_MIN_FILE_CHARACTERS = 200
"""Docstrings of a file that are shorter together are a title or a generated line, not prose."""


def read_python(path: str, limit: int) -> Iterator[Raw | Damage]:
    """The texts of "python:stdlib" or "python:docs", in a fixed order."""
    if path == STDLIB:
        texts = _read_stdlib()
    elif path == DOCS:
        texts = _read_docs()
    else:
        raise InputError(f"there is no text {path!r} in Python; {nearest(path, PYTHON_SOURCES)}")
    for item in texts:
        if isinstance(item, Raw) and len(item.text.encode("utf-8", "replace")) > limit:
            yield Damage("too_long", item.source, detail=f"longer than {limit} bytes")
        else:
            yield item


def list_distributions() -> list[tuple[str, str]]:
    """(name, version) of the packages that "python:docs" reads, sorted."""
    return [(found.name, found.version) for found in _distributions()]


def _stdlib() -> Path:
    root = Path(sysconfig.get_path("stdlib"))
    if not (root / "os.py").is_file():
        raise InputError(f"this Python has no sources of its standard library in {root}; name files instead")
    return root


def _stdlib_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in _LEFT_OUT or _GENERATED.fullmatch(path.name):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _stdlib_files(path)
        elif path.suffix == ".py":
            yield path


def _read_stdlib() -> Iterator[Raw | Damage]:
    root = _stdlib()
    for path in _stdlib_files(root):
        data = path.read_bytes()
        name = _stdlib_name(path, root)
        text = _source_text(data)
        if text is None:
            yield Damage("undecodable", name, detail="the source is not in the encoding that it declares")
        elif text and not text.isspace():
            yield Raw(text, name, 0, len(data), group=name)


def _stdlib_name(path: Path, root: Path) -> str:
    return f"{STDLIB}/{path.relative_to(root).as_posix()}"


def _source_text(data: bytes) -> str | None:
    """Python source decoded as PEP 263 says, None where it cannot be."""
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError):
        return None


def _read_docs() -> Iterator[Raw | Damage]:
    root = _stdlib()
    yield from _read_topics(root / "pydoc_data" / "topics.py")
    for path in _stdlib_files(root):
        data = path.read_bytes()
        if b'"""' not in data and b"'''" not in data:
            continue
        name = _stdlib_name(path, root)
        text = "\n\n".join(docstrings(data))
        if len(text) >= _MIN_FILE_CHARACTERS:
            source = f"{DOCS}/docstrings/{name.removeprefix(STDLIB + '/')}"
            yield Raw(text, source, 0, len(data), group=name)
    for found in _distributions():
        yield from _read_distribution(found)


def _read_topics(path: Path) -> Iterator[Raw]:
    """pydoc's help pages: the one dictionary of a generated module."""
    if not path.is_file():
        return
    data = path.read_bytes()
    for node in ast.parse(data).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            for topic, text in sorted(ast.literal_eval(node.value).items()):
                source = f"{DOCS}/topics/{topic}"
                yield Raw(text, source, 0, len(data), group=source)


def docstrings(source: bytes) -> list[str]:
    """The docstrings of a module, its classes and functions in order, each under its qualified name.

    A source that does not parse has none: it is another Python's.
    """
    with warnings.catch_warnings():
        # Invalid escapes in another's source are not ours to report.
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            return []
    found = []
    for name, node in [("", tree), *_definitions(tree, "")]:
        text = ast.get_docstring(node)
        if text and len(text) >= _MIN_DOCSTRING_CHARACTERS:
            found.append(f"{name}\n{text}" if name else text)
    return found


_Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, _Definition]]:
    """Classes and functions below a node, through `if` and `try`; expressions are not visited, which is the speed."""
    for field in ("body", "handlers", "orelse", "finalbody"):
        for child in getattr(node, field, ()):
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                name = f"{prefix}{child.name}"
                yield name, child
                yield from _definitions(child, f"{name}.")
            else:
                yield from _definitions(child, prefix)


def _distributions() -> list[importlib.metadata.Distribution]:
    """What danlu cannot be without: its requirements and theirs, as far as they are installed, sorted by name.

    Requirements under a condition (an extra, a platform) are left out: other packages that a user happens to have
    installed never change the text.
    """
    found: dict[str, importlib.metadata.Distribution] = {}
    wanted = [_PACKAGE]
    while wanted:
        name = wanted.pop()
        try:
            dist = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        found[name] = dist
        names = {_requirement(line) for line in dist.requires or () if ";" not in line}
        wanted += sorted(names - found.keys() - set(wanted))
    found.pop(_PACKAGE, None)
    return [found[name] for name in sorted(found)]


def _requirement(line: str) -> str:
    """The normal name (PEP 503) of the package that a requirement names."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.\-]", line.strip(), maxsplit=1)[0]).lower()


def _read_distribution(dist: importlib.metadata.Distribution) -> Iterator[Raw | Damage]:
    name = f"{DOCS}/{dist.name}"
    metadata = dist.read_text("METADATA") or ""
    head, _, description = metadata.partition("\n\n")
    if description.strip():
        start = len(head.encode("utf-8", "replace")) + 2
        end = start + len(description.encode("utf-8", "replace"))
        yield Raw(description, f"{name}/METADATA", start, end, group=f"{name}/METADATA")
    for path in _recorded(dist):
        kind = _kind(path)
        located = Path(str(dist.locate_file(path.as_posix())))
        if kind is None or not located.is_file():
            continue
        source = f"{name}/{path.as_posix()}"
        try:
            text, replaced = decode(located.read_bytes(), source)
        except InputError as error:
            # Not named by the user, so no reason to stop: counted instead.
            yield Damage("undecodable", source, detail=str(error))
            continue
        if text and not text.isspace():
            group = LICENCE_GROUP if kind == "licence" else source
            yield Raw(text, source, 0, located.stat().st_size, group=group, replaced=replaced)


def _recorded(dist: importlib.metadata.Distribution) -> list[PurePosixPath]:
    """The text files that a package says are its own; most of a record is code, told by its name alone."""
    rows = csv.reader((dist.read_text("RECORD") or "").splitlines())
    names = sorted(row[0] for row in rows if row and not row[0].endswith((".py", ".pyc", ".pyi", ".h")))
    return [PurePosixPath(name) for name in names]


def _kind(path: PurePosixPath) -> str | None:
    if path.suffix.lower() not in _TEXT_SUFFIXES or any(part.startswith("test") for part in path.parts[:-1]):
        return None
    if _LICENCE.fullmatch(path.name) or "licenses" in path.parts[:-1]:
        return "licence"
    return "readme" if _README.fullmatch(path.name) else None
