"""The recipe to start from."""

from __future__ import annotations

from pathlib import Path

import pytest

from danlu.cli.start import init
from danlu.errors import UsageError
from danlu.recipe import load


def written(path: Path) -> Path:
    init(path)
    return path


def test_the_starter_is_a_valid_recipe(tmp_path: Path) -> None:
    path = written(tmp_path / "r.toml")
    assert load(path).name == "my-model"


def test_every_key_of_the_starter_that_is_commented_out_is_valid_too(tmp_path: Path) -> None:
    path = written(tmp_path / "r.toml")
    keys = ("# [", "# domain", "# paths", "# weights", "# use", "# min")
    lines = [
        line.removeprefix("# ") if line.startswith(keys) else line for line in path.read_text().splitlines()
    ]
    path.write_text("\n".join(lines))
    assert load(path).mixture.weights == {"prose": 0.7, "code": 0.3}


def test_a_folder_gets_a_recipe_toml(tmp_path: Path) -> None:
    init(tmp_path)
    assert load(tmp_path / "recipe.toml").name == "my-model"


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text("mine")
    with pytest.raises(UsageError, match="left as it is"):
        init(tmp_path / "recipe.toml")
    assert (tmp_path / "recipe.toml").read_text() == "mine"
