"""`danlu tokens export`: a recipe or a run, and only into folders where nothing is lost or mixed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from danlu.cli.main import execute

RECIPE = """
name = "{name}"
[corpus]
validation_share = 0.3
step = []
[[corpus.source]]
domain = "prose"
paths = ["texts/*.txt"]
[tokenizer]
vocab_size = {vocab}
[train]
tokens = "10K"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("home")
    (folder / "texts").mkdir()
    for number in range(20):
        text = f"Text {number * 104729} says that river {number * 7919} is no stone {number}.\n" * 4
        (folder / "texts" / f"{number}.txt").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, vocab in (("a", 300), ("b", 290), ("unbuilt", 280)):
            Path(f"{name}.toml").write_text(RECIPE.format(name=name, vocab=vocab))
        for name in ("a", "b"):
            assert execute(["tokens", "build", f"{name}.toml"]) == 0
        yield folder


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def failed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    capsys.readouterr()
    code = execute(["tokens", "export", *arguments])
    said = capsys.readouterr().err
    assert "bug of danlu" not in said
    return code, said


@pytest.mark.parametrize("run", ["a", "runs/a", "a.toml"])
def test_a_recipe_or_a_run(folder: Path, tmp_path: Path, run: str) -> None:
    assert execute(["tokens", "export", run, str(tmp_path)]) == 0
    assert (tmp_path / "train" / "prose.idx").is_file()
    assert (tmp_path / "tokenizer.json").read_bytes() == Path("runs/a/tokenizer/tokenizer.json").read_bytes()


def test_what_is_not_built_names_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = failed(capsys, "unbuilt.toml", "pairs")
    assert code == 1
    assert "`danlu tokens build unbuilt.toml`" in said
    assert not Path("pairs").exists()


def test_a_recipe_that_changed_is_built_first(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    changed = Path("changed.toml")
    changed.write_text(RECIPE.format(name="a", vocab=310))
    code, said = failed(capsys, "changed.toml", str(tmp_path / "pairs"))
    assert code == 1
    assert "changed since" in said
    assert "`danlu tokens build changed.toml`" in said
    assert execute(["tokens", "export", "a", str(tmp_path / "pairs")]) == 0


def test_two_runs_are_not_mixed(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert execute(["tokens", "export", "a", str(tmp_path)]) == 0
    before = files(tmp_path)
    code, said = failed(capsys, "b", str(tmp_path))
    assert code == 2
    assert "their ids would be mixed" in said
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    "where", [".", "texts", "runs", "runs/a", "runs/a/pairs", "runs/new", "a.toml", "a.toml/x", "/proc/x"]
)
def test_folders_of_others_are_refused(folder: Path, capsys: pytest.CaptureFixture[str], where: str) -> None:
    before = files(folder)
    code, said = failed(capsys, "a", where)
    assert code == 2
    assert where in said
    assert files(folder) == before
