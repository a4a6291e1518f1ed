"""Writes the README's file tree: one line a file, the first line of its docstring, so that it cannot rot.

Run by `make format`; a test fails while the README is behind.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "danlu"
README = ROOT / "README.md"
BEGIN, END = "<!-- tree: begin -->", "<!-- tree: end -->"
_COLUMN = 24


def first_line(path: Path) -> str:
    """The first line of a file's docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0].removesuffix(".")


def tree() -> str:
    """The tree as text: root modules, then the folders with their files, by name."""
    rows = [("src/danlu/", "")]
    rows += [
        (f"  {path.name}", first_line(path))
        for path in sorted(SOURCE.glob("*.py"))
        if path.stem != "__init__"
    ]
    for folder in sorted(path.parent for path in SOURCE.glob("*/__init__.py")):
        rows.append((f"  {folder.name}/", first_line(folder / "__init__.py")))
        rows += [
            (f"    {path.name}", first_line(path))
            for path in sorted(folder.glob("*.py"))
            if path.stem != "__init__"
        ]
    return "\n".join(f"{name:<{_COLUMN}}{comment}".rstrip() for name, comment in rows)


def with_tree(text: str) -> str:
    """The README's text with the tree of now between the markers."""
    head, _, rest = text.partition(BEGIN)
    _, marker, tail = rest.partition(END)
    if not marker:
        raise SystemExit(f"README.md must hold {BEGIN} and {END}")
    return f"{head}{BEGIN}\n```text\n{tree()}\n```\n{END}{tail}"


if __name__ == "__main__":
    README.write_text(with_tree(README.read_text(encoding="utf-8")), encoding="utf-8")
