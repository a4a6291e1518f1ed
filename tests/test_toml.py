"""TOML in and out: lines of keys as TOML sees them, and text that reads back equal."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.errors import MissingError, RecipeError
from danlu.toml import find_line, parse_toml, read_text, write_toml

TEXT = '''\
name = "demo"      # 1
seed = 1           # 2

[corpus]           # 4
validation_share = 0.1

[[corpus.source]]  # 7
domain = "prose"
paths = [          # 9
  "a/*.txt",
  "# = ] not a key",
]

[[corpus.source]]  # 14
domain = """
[train]
domain = 1
"""                # 18
"paths" = ["b"]

[[corpus.step]]    # 21
use = "length"

  [train]          # 24
tokens = "2M"
model.rope = { theta = 1.0 }

[mixture.weights]  # 28
"zh.cn" = 0.5
prose = 0.5
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (["name"], 1),
        (["seed"], 2),
        (["corpus"], 4),
        (["corpus", "validation_share"], 5),
        (["corpus", "source", 0], 7),
        (["corpus", "source", 0, "paths"], 9),
        (["corpus", "source", 0, "paths", 1], 9),
        (["corpus", "source", 1], 14),
        (["corpus", "source", 1, "domain"], 15),
        (["corpus", "source", 1, "paths"], 19),
        (["corpus", "step", 0, "use"], 22),
        (["train"], 24),
        (["train", "tokens"], 25),
        (["train", "model", "rope", "theta"], 26),
        (["mixture", "weights", "zh.cn"], 29),
    ],
)
def test_line_of_a_key(path: list[str | int], line: int) -> None:
    assert find_line(TEXT, path) == line
    assert find_line(TEXT.replace("\n", "\r\n"), path) == line


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (["corpus", "source", 1, "format"], 14),
        (["train", "steps"], 24),
        (["corpus", "source", 5, "domain"], 7),
        (["optimizer", "kind"], None),
        ([], None),
    ],
)
def test_a_key_that_is_not_there_has_the_line_of_its_table(path: list[str | int], line: int | None) -> None:
    assert find_line(TEXT, path) == line


def test_table_after_its_subtable() -> None:
    assert find_line("[[a.b]]\nx = 1\n[a]\ny = 2\n", ["a", "y"]) == 4


def test_text_that_is_not_toml_has_no_lines() -> None:
    assert find_line("name == 3", ["name"]) is None


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"there is no recipe .*danlu init"):
        read_text(tmp_path / "none.toml")
    with pytest.raises(RecipeError, match="is a directory"):
        read_text(tmp_path)
    path = tmp_path / "a.toml"
    path.write_bytes(b'name = "\xff"')
    with pytest.raises(RecipeError, match=r"is not UTF-8 .*byte 8"):
        read_text(path)
    with pytest.raises(RecipeError, match=r"a\.toml is not valid TOML: .*line 1"):
        parse_toml("name = \n", path)


def test_byte_order_mark_of_an_editor_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b'\xef\xbb\xbfname = "a"\r\n')
    assert parse_toml(read_text(path), path) == {"name": "a"}


VALUES = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), VALUES, max_size=4))
def test_round_trip(tables: dict) -> None:
    assert tomllib.loads(write_toml(tables)) == tables


def test_shape_of_the_text() -> None:
    tables = {
        "train": {"tokens": 2},
        "name": "a",
        "source": [{"d": 1, "m": {"x": True}}, {"d": 2}],
        "none": {},
    }
    assert write_toml(tables) == (
        'name = "a"\nnone = {}\n\n[train]\ntokens = 2\n\n'
        "[[source]]\nd = 1\n\n[source.m]\nx = true\n\n[[source]]\nd = 2\n"
    )


def test_what_toml_has_no_word_for_is_refused() -> None:
    with pytest.raises(TypeError, match="TOML has no NoneType"):
        write_toml({"a": None})
