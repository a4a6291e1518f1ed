"""Files, functions and folders stay small enough to be read at one sitting; an exception is listed with its reason."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import house

FILE_LINES = 500
FUNCTION_LINES = 80
FOLDER_FILES = range(3, 14)

YOUNG = {
    "generate": "one sampler so far",
    "objective": "causal so far",
    "precision": "one choice so far",
}
"""Folders that may have fewer files until more of their kind exist."""


@pytest.mark.parametrize("path", house.FILES, ids=house.name)
def test_file_and_its_functions(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= FILE_LINES, f"{lines} lines: split it by question"
    for node in ast.walk(house.tree(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= FUNCTION_LINES, f"{node.name} has {length} lines"


@pytest.mark.parametrize("folder", house.FOLDERS, ids=lambda folder: folder.name)
def test_folder(folder: Path) -> None:
    count = sum(path.name != "__init__.py" for path in folder.glob("*.py"))
    fewest = 1 if folder.name in YOUNG else FOLDER_FILES[0]
    assert fewest <= count <= FOLDER_FILES[-1], (
        f"{count} files; a folder has {FOLDER_FILES[0]}-{FOLDER_FILES[-1]}"
    )


@pytest.mark.parametrize("folder", [house.SOURCE, *house.FOLDERS], ids=lambda folder: folder.name)
def test_init_holds_a_docstring_only(folder: Path) -> None:
    tree = house.tree(folder / "__init__.py")
    assert len(tree.body) == 1
    assert ast.get_docstring(tree)


def test_young_folders_exist_and_are_young() -> None:
    small = {
        f.name
        for f in house.FOLDERS
        if sum(p.name != "__init__.py" for p in f.glob("*.py")) < FOLDER_FILES[0]
    }
    assert small == set(YOUNG), "grown up: take it off the list"
