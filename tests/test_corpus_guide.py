"""docs/corpus.md and docs/scoring.md are of now: every step and its defaults, every key of a source; commands run."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter
from typer.main import get_command

import house
from danlu.cli.main import app, execute
from danlu.corpus.settings import CorpusSettings, Step
from danlu.dedup.parameters import found_share
from danlu.dedup.settings import MinHash
from danlu.formats.settings import COMPRESSIONS, FORMATS, PYTHON_SOURCES
from danlu.labels.settings import Endpoint
from danlu.lm.card import read_card as load_lm_card
from danlu.read.settings import Source
from example_texts import write_crawl, write_scored_texts
from small_ledger import write_small_corpus

SCORING = (house.ROOT / "docs" / "scoring.md").read_text(encoding="utf-8")
PAGE = (house.ROOT / "docs" / "corpus.md").read_text(encoding="utf-8")
STEPS: dict[str, type[Any]] = {kind.model_fields["use"].default: kind for kind in get_args(get_args(Step)[0])}
HELD_OUT = "corpus.validation_share=0.25"


def table_of_steps() -> list[list[str]]:
    """The cells of each row: name, what it drops, keys, source."""
    _, _, rest = PAGE.partition("<!-- steps: begin -->\n")
    rows = rest.partition("<!-- steps: end -->")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return [[name.strip("`"), *others] for name, *others in cells]


def test_every_step_is_in_the_table_once() -> None:
    assert sorted(name for name, *_ in table_of_steps()) == sorted(STEPS)


@pytest.mark.parametrize("use", STEPS)
def test_its_keys_are_there_with_their_defaults(use: str) -> None:
    ((_, _, keys, source),) = [row for row in table_of_steps() if row[0] == use]
    assert source
    for shown in re.findall(r"`([^`]+)`", keys):
        key, _, value = shown.partition(" = ")
        field = STEPS[use].model_fields[key]
        if value:
            adapter = TypeAdapter(field.annotation)
            assert adapter.validate_json(value.replace("_000", "000")) == field.default, shown


def test_every_key_and_format_of_a_source_is_named() -> None:
    part = PAGE.partition("## What can be read")[2].partition("\n## ")[0]
    names = [*Source.model_fields, *COMPRESSIONS, *FORMATS, *PYTHON_SOURCES]
    names += set(get_args(Source.model_fields["format"].annotation)) - {"auto"}
    assert [name for name in names if not re.search(rf"\b{re.escape(name.lstrip('.'))}\b", part)] == [
        "id_field"
    ]


def test_every_key_of_the_corpus_is_named() -> None:
    assert [name for name in CorpusSettings.model_fields if name not in PAGE] == []


def test_the_shares_that_minhash_finds() -> None:
    (similarities,) = re.findall(r"\| similarity \|(.*)\|", PAGE)
    (shares,) = re.findall(r"\| found \|(.*)\|", PAGE)
    settings = MinHash()
    for similarity, share in zip(similarities.split("|"), shares.split("|"), strict=True):
        found = found_share(float(similarity), settings.bands, settings.rows)  # type: ignore[arg-type]
        assert share.strip() == f"{found:.0%}".replace("%", " %")


def test_its_python_runs(tmp_path: Path) -> None:
    write_small_corpus(tmp_path / "runs" / "english-web" / "corpus")
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(ast.parse(code).body) == 3
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    assert "'reason': 'wordy.few_words', 'bytes_count': 2" in done.stdout


def commands_of(page: str) -> list[list[str]]:
    """The words of each command of a page, without the program."""
    (block,) = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return [line.split()[1:] for line in block.splitlines()]


def test_both_pages_have_every_command() -> None:
    group = get_command(app).commands["corpus"]  # type: ignore[attr-defined]
    shown = {(first, second) for page in (PAGE, SCORING) for first, second, *_ in commands_of(page)}
    assert shown == {("corpus", name) for name in group.commands}


def test_their_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_crawl(tmp_path / "examples")
    recipe = house.ROOT / "examples" / "english-web.toml"
    (tmp_path / "examples" / recipe.name).write_bytes(recipe.read_bytes())
    write_scored_texts(tmp_path)
    monkeypatch.chdir(tmp_path)
    for words in [*commands_of(PAGE), *commands_of(SCORING)]:
        monkeypatch.setattr(sys, "stdin", io.StringIO("k\nd\n" * 30))
        assert execute([*words, "--set", HELD_OUT] if "build" in words else words) == 0, words
    assert load_lm_card(tmp_path / "en.arpa").documents > 50


def test_the_tables_of_the_page_on_scoring_are_settings() -> None:
    recipe, endpoint = re.findall(r"^```toml\n(.*?)^```", SCORING, re.MULTILINE | re.DOTALL)
    for step in tomllib.loads(recipe)["corpus"]["step"]:
        assert STEPS[step["use"]].model_validate(step)
    assert Endpoint.model_validate(tomllib.loads(endpoint)).max_cost == 5.0
