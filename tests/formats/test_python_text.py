"""The texts that every Python carries."""

import ast
import importlib.metadata
import sys
from types import SimpleNamespace

import pytest

from danlu.errors import InputError
from danlu.formats import python_text
from danlu.formats.python_text import docstrings, list_distributions, read_python

LIMIT = 20_000_000
SOURCE = b'''"""A module that explains itself in a whole sentence."""

class Furnace:
    """Holds the fire, and what is in it, for as long as needed."""

    def light(self):
        """Lights the fire; a second call does nothing at all."""

        def inner():
            "Too short."

if True:
    async def stoke(coal):
        """Adds coal, one piece at a time, until it is hot."""
'''


def test_docstrings_are_those_of_ast_each_under_its_name():
    found = docstrings(SOURCE)
    assert [text.splitlines()[0] for text in found[1:]] == ["Furnace", "Furnace.light", "stoke"]
    nodes = [node for node in ast.walk(ast.parse(SOURCE)) if isinstance(node, ast.Module | ast.ClassDef)]
    assert {ast.get_docstring(node) for node in nodes} <= {text.split("\n", 1)[-1] for text in found}
    assert docstrings(b"print 'another Python'") == []


@pytest.fixture(scope="module")
def stdlib():
    return list(read_python("python:stdlib", LIMIT))


def test_the_library_is_there_without_its_tests(stdlib):
    sources = [raw.source for raw in stdlib]
    assert "python:stdlib/asyncio/base_events.py" in sources
    assert len(sources) > 300
    assert not [name for name in sources if "/test" in name or "site-packages" in name or "ensurepip" in name]
    assert sources == [raw.source for raw in read_python("python:stdlib", LIMIT)]


def test_code_and_docstrings_of_a_file_share_its_group(stdlib, monkeypatch):
    files = [path for path in python_text._stdlib_files(python_text._stdlib()) if path.parent.name == "json"]
    monkeypatch.setattr(python_text, "_stdlib_files", lambda _: iter(files))
    monkeypatch.setattr(python_text, "_distributions", list)
    groups = {raw.group for raw in stdlib}
    texts = [raw for raw in read_python("python:docs", LIMIT) if "/docstrings/" in raw.source]
    assert "python:docs/docstrings/json/decoder.py" in {raw.source for raw in texts}
    assert {raw.group for raw in texts} <= groups


def test_prose_does_not_need_installed_packages(monkeypatch):
    monkeypatch.setattr(python_text, "_stdlib_files", lambda _: iter(()))
    monkeypatch.setattr(python_text, "_distributions", list)
    topics = [raw.source for raw in read_python("python:docs", LIMIT)]
    assert "python:docs/topics/assignment" in topics


def test_readmes_and_licences_of_packages_are_read(monkeypatch):
    monkeypatch.setattr(python_text, "_stdlib_files", lambda _: iter(()))
    found = {raw.source: raw for raw in read_python("python:docs", LIMIT)}
    metadata = found["python:docs/numpy/METADATA"]
    assert 0 < metadata.start < metadata.end
    licences = {raw.group for name, raw in found.items() if "/numpy/" in name and "LICENSE" in name}
    assert licences == {"python:docs/licences"}


def test_only_packages_that_danlu_requires_are_read():
    names = [name for name, _ in list_distributions()]
    assert {"numpy", "torch", "typing_extensions"} <= set(names)
    assert not {"danlu", "pytest", "hypothesis", "ruff", "mypy", "transformers"} & set(names)
    assert list_distributions() == list_distributions()


def test_requirements_are_followed_without_those_under_a_condition(monkeypatch):
    requires = {
        "danlu": ["a>=1", "B_b.c[x] ~=2", 'extra; extra == "dev"'],
        "a": ["b-b-c", "gone", "danlu"],
        "b-b-c": ['colour; sys_platform == "win32"'],
    }

    def distribution(name):
        if name not in requires:
            raise importlib.metadata.PackageNotFoundError(name)
        return SimpleNamespace(name=name, version="1", requires=requires[name])

    monkeypatch.setattr(importlib.metadata, "distribution", distribution)
    assert list_distributions() == [("a", "1"), ("b-b-c", "1")]
    del requires["danlu"]
    assert list_distributions() == []


def test_nothing_that_is_read_is_imported(stdlib, monkeypatch):
    monkeypatch.setattr(python_text, "_distributions", list)
    before = set(sys.modules)
    monkeypatch.setattr(python_text, "_stdlib_files", lambda _: iter(()))
    list(read_python("python:docs", LIMIT))
    assert "pydoc_data.topics" not in set(sys.modules) - before
    assert "antigravity" not in sys.modules


def test_an_unknown_text_offers_the_nearest():
    with pytest.raises(InputError, match="did you mean 'python:stdlib'"):
        list(read_python("python:stdlb", LIMIT))


def test_a_limit_below_a_text_counts_it():
    assert {item.reason for item in read_python("python:stdlib", 1) if not hasattr(item, "text")} == {
        "too_long"
    }
