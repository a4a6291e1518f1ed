"""The source tree as the structural tests see it: files, folders, syntax trees, imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "danlu"
FILES = sorted(SOURCE.rglob("*.py"))
FOLDERS = sorted({path.parent for path in FILES} - {SOURCE})


def name(path: Path) -> str:
    """A file as "read/files.py"."""
    return path.relative_to(SOURCE).as_posix()


def module(path: Path) -> str:
    """A file as "read/files"; a root module as "config"; a package as "read/__init__"."""
    return name(path).removesuffix(".py")


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and absolute dotted name of every import, also those in functions; `from a import b` is "a.b"."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise AssertionError(f"{name(path)}:{node.lineno}: relative import; write it out from danlu")
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in (
            "import_module",
            "importlib.import_module",
        ):
            argument = node.args[0]
            if isinstance(argument, ast.Constant):
                yield node.lineno, str(argument.value)


def own_module(dotted: str) -> str | None:
    """ "danlu.model.shape.Shape" -> "model/shape"; None where the name is not of danlu's."""
    head, *parts = dotted.split(".")
    if head != "danlu":
        return None
    for depth in (2, 1):
        candidate = SOURCE.joinpath(*parts[:depth])
        if len(parts) >= depth and candidate.with_suffix(".py").is_file():
            return "/".join(parts[:depth])
    return f"{parts[0]}/__init__" if parts else "__init__"
