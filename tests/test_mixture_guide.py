"""docs/mixture.md is of now: its recipes are recipes, its presets and their shares are all there are."""

from __future__ import annotations

import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest

import house
from danlu.cli.main import execute
from danlu.mixture.presets import read_presets
from danlu.mixture.repeats import effective_tokens
from danlu.mixture.settings import WAYS
from danlu.recipe import parse
from danlu.train.limits import Limits
from danlu.workflow.results import documents_of_step
from danlu.workflow.run import hold, load_run
from danlu.workflow.stages import train_stage
from small_run import prepared

__all__ = ["prepared"]

PAGE = (house.ROOT / "docs" / "mixture.md").read_text(encoding="utf-8")
RECIPES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading."""
    part = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("text", RECIPES, ids=lambda text: text.split('"')[1])
def test_recipes(text: str) -> None:
    assert parse(tomllib.loads(text)).mixture


def test_every_way_has_a_row_that_is_a_setting() -> None:
    ways = [cells[0].strip("`") for cells in rows("Ways of sharing out")]
    assert sorted(next(iter(tomllib.loads(way))) for way in ways) == sorted(WAYS)


def test_presets() -> None:
    shown = {
        name: cells[1] for cells in rows("Published mixtures") for name in re.findall(r"`(\w+)`", cells[0])
    }
    presets = read_presets()
    assert set(shown) == set(presets)
    for name, preset in presets.items():
        if name.startswith("codegen"):
            continue
        for domain, share in preset.weights.items():
            if f"{domain} {share * 100:g} %" not in shown[name]:
                assert name == "llemma", (name, domain)


def test_the_value_of_repeats() -> None:
    for epochs, worth in re.findall(r"(\d+)(?: passes over a domain)? are worth\s+([\d.]+\d)", PAGE):
        assert float(worth) == pytest.approx(effective_tokens(1.0, int(epochs)), rel=0.003)
    assert len(re.findall(r"are worth\s+[\d.]+\d", PAGE)) == 3


@pytest.fixture(scope="module")
def runs(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run that has three steps of training, under the names that the page uses."""
    folder = tmp_path_factory.mktemp("guide")
    for name in ("bilingual", "curriculum"):
        shutil.copytree(prepared, folder / "runs" / name)
        run = load_run(folder / "runs" / name)
        with hold(run):
            train_stage(run, Limits(steps=3))
    return folder


COMMANDS = re.findall(r"danlu (?:tokens explain|inspect|block|checkpoint)[^`\n]*", PAGE)


@pytest.mark.parametrize("command", dict.fromkeys(COMMANDS))
def test_commands(command: str, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(runs)
    words = shlex.split(command)[1:]
    if words[0] == "block":
        saved = load_run(runs / "runs" / "bilingual")
        words[2] = documents_of_step(saved, 3)[0]["id"]
    assert execute(words if words != ["checkpoint", "list"] else [*words, "bilingual"]) == 0
    if "curriculum" in words:
        assert (runs / "runs" / "curriculum" / "mixture.html").is_file()


def test_the_page_names_commands() -> None:
    assert len(COMMANDS) >= 6
