"""docs/shards.md is of now: its recipes are recipes, and its numbers are those of the code."""

from __future__ import annotations

import re
import tomllib

import pytest

import house
from danlu.recipe import parse
from danlu.shards.join import _MOST_BYTES, PARTS
from danlu.shards.task import CHUNK_CHARACTERS

PAGE = (house.ROOT / "docs" / "shards.md").read_text(encoding="utf-8")
RECIPES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("text", RECIPES, ids=lambda text: text.split('"')[1])
def test_recipes(text: str) -> None:
    tokens = parse(tomllib.loads(text)).tokens
    assert tokens.join or tokens.megatron


def test_numbers() -> None:
    assert f"ends at {_MOST_BYTES / 1e6:.0f} MB" in PAGE
    assert CHUNK_CHARACTERS == 2_000_000
    assert f"column `{PARTS}`" in PAGE
