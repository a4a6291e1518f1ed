"""What the documents show is true: the file tree is of now, recipes are valid, commands parse, and, slowly, all run.

A recipe without a name is a part of one: what it leaves out is filled in.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import house
import tree as readme_tree
from example_texts import write_crawl, write_scored_texts

DOCUMENTS = [
    house.ROOT / "README.md",
    house.ROOT / "CONTRIBUTING.md",
    *sorted((house.ROOT / "docs").glob("*.md")),
]
SMALL = (
    "--set tokenizer.vocab_size=300 --set model.size=60K --set train.minutes=0.05 --set train.sequence_length=64 "
    "--set train.batch_tokens=512 --set corpus.validation_share=0.2"
)
RUN_AS = {
    "make install": "make --dry-run install",
    "make demo": "make --dry-run demo",
    "make test": "make --dry-run test",
    "make check": "make --dry-run check",
    "make slow": "make --dry-run slow",
    ". .venv/bin/activate": "true",
    "danlu block bilingual 3f1c9a52b7e04d68": "danlu block --help",  # with a real id in test_mixture_guide.py
    "danlu run texts/": f"danlu run texts/ {SMALL}",
    "danlu run recipe.toml --set train.minutes=5": "danlu run recipe.toml --set train.minutes=0.05",
}
"""What takes long, or what this test runs inside of, and what stands for it."""


def blocks(path: Path, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(
        rf"^```{language}\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )


def commands(path: Path) -> list[str]:
    """The commands that a document shows, without their comments."""
    lines = [line for block in blocks(path, "sh") for line in block.splitlines()]
    return [shlex.join(words) for line in lines if (words := shlex.split(line, comments=True))]


SHOWN = [(path.name, command) for path in DOCUMENTS for command in commands(path)]


def test_documents_show_commands() -> None:
    assert {"make demo", "make test", "make check", "make slow"} <= {command for _, command in SHOWN}
    assert len(SHOWN) >= 15


def test_tree_is_of_now() -> None:
    text = readme_tree.README.read_text(encoding="utf-8")
    assert readme_tree.with_tree(text) == text, "the file tree is behind: make format"


def test_tree_has_a_comment_for_every_file() -> None:
    rows = readme_tree.tree().splitlines()[1:]
    assert len(rows) >= len(house.FILES) - 1
    assert all(len(row.split(maxsplit=1)) == 2 for row in rows)


def test_the_architecture_names_every_folder() -> None:
    page = (house.ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    firsts = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    named = {name for cell in firsts for name in re.findall(r"`(\w+)`", cell)}
    assert named == {folder.name for folder in house.FOLDERS}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def whole_recipe(tables: dict[str, Any]) -> dict[str, Any]:
    """A recipe as it is, or the least that makes one of a part."""
    if "name" in tables:
        return tables
    source = [{"domain": "prose", "paths": ["*.jsonl"]}]
    return {"name": "part", "train": {"steps": 1}, **tables, "corpus": {"source": source, **tables["corpus"]}}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_recipes_are_valid(path: Path) -> None:
    from danlu.recipe import parse

    for text in blocks(path, "toml"):
        tables = tomllib.loads(text)
        if "url" not in tables:  # an endpoint's settings: test_corpus_guide.py
            parse(whole_recipe(tables), path, text)


@pytest.mark.skipif(not (house.SOURCE / "cli" / "main.py").is_file(), reason="there is no command line yet")
@pytest.mark.parametrize("command", sorted({command for _, command in SHOWN if command.startswith("danlu ")}))
def test_command_exists_with_its_options(command: str) -> None:
    from typer.main import get_command

    from danlu.cli.main import app

    found = get_command(app)
    words = shlex.split(command)[1:]
    while words and words[0] in getattr(found, "commands", {}):
        found = found.commands[words.pop(0)]  # type: ignore[attr-defined]
    assert not hasattr(found, "commands"), f"no such command: {words}"
    found.make_context("danlu", words)  # raises on an unknown option or a missing argument


def newcomer(directory: Path) -> None:
    """What the documents suppose: text in two domains, an example beside its web pages, something to train scorers."""
    write_scored_texts(directory)
    write_crawl(directory / "examples")
    recipe = (house.ROOT / "examples" / "english-web.toml").read_text(encoding="utf-8")
    recipe = recipe.replace("validation_share = 0.005", "validation_share = 0.25")
    (directory / "examples" / "english-web.toml").write_text(recipe, encoding="utf-8")
    for domain in ("prose", "verse"):
        (directory / "texts" / domain).mkdir(parents=True)
        for number in range(40):
            lines = [
                f"In the year {number * 7 + line} the {domain} of the furnace was {line * number}."
                for line in range(30)
            ]
            (directory / "texts" / domain / f"{number:02}.md").write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.slow
def test_every_command_runs_in_the_order_shown(tmp_path: Path) -> None:
    newcomer(tmp_path)
    (tmp_path / "Makefile").symlink_to(house.ROOT / "Makefile")
    (tmp_path / "pyproject.toml").symlink_to(house.ROOT / "pyproject.toml")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for name, command in SHOWN:
        done = subprocess.run(
            shlex.split(RUN_AS.get(command, command)),
            cwd=tmp_path,
            env=environment,
            input="k\nd\n" * 30 if "corpus label" in command else "",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{name}: {command}\n{done.stdout}\n{done.stderr}"
        if command == "danlu init recipe.toml":
            small_recipe(tmp_path / "recipe.toml")


def small_recipe(path: Path) -> None:
    """Sets what `danlu init` leaves to the user, at a size that trains in seconds, under the README's name."""
    text = path.read_text(encoding="utf-8")
    for pattern, value in {
        "name": '"bilingual"',
        "validation_share": "0.2",
        "vocab_size": "300",
        "size": '"60K"',
        "minutes": "0.05",
        "sequence_length": "64",
        "batch_tokens": "512",
    }.items():
        text, count = re.subn(rf"(?m)^{pattern} = [^#\n]*", f"{pattern} = {value} ", text)
        assert count == 1, f"the starter recipe has no {pattern}"
    path.write_text(text, encoding="utf-8")
