"""Every file, public class and public function says what it does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import house

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def public(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, Definition]]:
    """Public definitions of a module and of its public classes; what a function defines inside is its own affair."""
    for node in body:
        if isinstance(node, (ast.If, ast.Try)):
            yield from public(node.body, prefix)
        elif isinstance(
            node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        ) and not node.name.startswith("_"):
            yield f"{prefix}{node.name}", node
            if isinstance(node, ast.ClassDef):
                yield from public(node.body, f"{prefix}{node.name}.")


TORCH_EXPLAINS = {"forward", "backward", "reset_parameters"}
"""Methods whose meaning is PyTorch's; what goes in and comes out stands in the docstring of their class."""


def explained(name: str, node: Definition) -> bool:
    """An overload, or a method that a base class has explained."""
    decorators = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    return bool(decorators & {"overload", "override"}) or ("." in name and node.name in TORCH_EXPLAINS)


@pytest.mark.parametrize("path", house.FILES, ids=house.name)
def test_documented(path: Path) -> None:
    tree = house.tree(path)
    docstring = ast.get_docstring(tree)
    assert docstring, "the file has no docstring"
    assert len(docstring.partition("\n")[0]) >= 20, (
        "the first line stands in the README's file tree: say something"
    )
    silent = [
        name for name, node in public(tree.body) if not (ast.get_docstring(node) or explained(name, node))
    ]
    assert not silent, f"no docstring: {', '.join(silent)}"
