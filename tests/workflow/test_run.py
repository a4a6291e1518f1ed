"""Naming a run, taking it up again, and owning its directory alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from danlu.errors import BusyError, MismatchError, MissingError, RecipeError, UsageError
from danlu.recipe import parse
from danlu.workflow.run import Run, find_run, hold, load_run, open_run, resolve
from danlu.workflow.training import record_training

TABLES = {
    "name": "small",
    "corpus": {"source": [{"domain": "prose", "paths": ["*.txt"]}]},
    "train": {"tokens": 4096, "sequence_length": 32, "batch_tokens": 128},
}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return open_run(parse(dict(TABLES)), tmp_path, tmp_path / "runs")


def saved(run: Run) -> Run:
    with hold(run):
        pass
    return run


def with_checkpoint(run: Run) -> Run:
    saved(run)
    record_training(run.recipe, run.directory, {"corpus": "abc"}, {}, 4096)
    (run.directory / "checkpoints" / "step-00000010").mkdir(parents=True)
    return run


def test_a_run_is_taken_up_again_by_its_directory(run: Run) -> None:
    saved(run)
    assert load_run(run.directory) == run


def test_settings_apply_over_a_saved_recipe(run: Run) -> None:
    saved(run)
    again = load_run(run.directory, ["checkpoint.every_steps=7"])
    assert again.recipe.checkpoint.every_steps == 7


def test_a_run_is_found_by_directory_and_by_name(run: Run) -> None:
    saved(run)
    runs = run.directory.parent
    assert find_run("small", runs) == run.directory
    assert find_run(str(run.directory), runs) == run.directory


def test_a_missing_run_lists_what_exists(run: Run) -> None:
    saved(run)
    with pytest.raises(MissingError, match=r"no run 'smal'.*has: small"):
        find_run("smal", run.directory.parent)


def test_a_missing_run_says_that_there_are_none_yet(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="none yet"):
        find_run("small", tmp_path / "runs")


def test_a_recipe_where_a_run_is_wanted_is_explained(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text("")
    with pytest.raises(UsageError, match=r"is a file; name a run, e\.g\. runs/small"):
        find_run(str(tmp_path / "small.toml"), tmp_path / "runs")


def test_resolve_takes_a_recipe_file_relative_to_its_own_folder(tmp_path: Path) -> None:
    folder = tmp_path / "deep"
    folder.mkdir()
    (folder / "r.toml").write_text(
        'name = "x"\n[train]\nsteps = 1\n[[corpus.source]]\ndomain = "a"\npaths = ["*.txt"]\n'
    )
    run = resolve(str(folder / "r.toml"), ["seed=5"], tmp_path / "runs")
    assert (run.base, run.directory, run.recipe.seed) == (folder, tmp_path / "runs" / "x", 5)


def test_resolve_explains_a_missing_recipe_and_a_plain_folder(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="danlu init"):
        resolve(str(tmp_path / "no.toml"))
    with pytest.raises(UsageError, match="danlu run"):
        resolve(str(tmp_path))


def test_a_run_is_meant_where_a_plain_folder_has_its_name(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(run)
    monkeypatch.chdir(run.base)
    (run.base / "small").mkdir()
    assert resolve("small", runs=run.directory.parent).directory == run.directory


def test_a_broken_recipe_is_a_recipe_error(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text("name = ")
    with pytest.raises(RecipeError, match="not valid TOML"):
        resolve(str(tmp_path / "r.toml"))


def test_two_live_runs_never_share_a_directory(run: Run) -> None:
    with hold(run), pytest.raises(BusyError, match="in use by process"), hold(run):
        pass


def test_another_recipe_in_a_trained_directory_is_refused_and_nothing_is_lost(run: Run) -> None:
    with_checkpoint(run)
    before = (run.directory / "recipe.toml").read_bytes()
    other = Run(parse({**TABLES, "seed": 2, "tokenizer": {"vocab_size": 512}}), run.base, run.directory)
    with pytest.raises(MismatchError) as error, hold(other):
        pass
    for part in ("seed: 1 -> 2", "tokenizer.vocab_size: 16384 -> 512", "--fresh", "another name"):
        assert part in str(error.value)
    assert (run.directory / "recipe.toml").read_bytes() == before
    assert (run.directory / "checkpoints" / "step-00000010").is_dir()


def test_what_does_not_decide_the_weights_may_change_on_the_way(run: Run) -> None:
    with_checkpoint(run)
    recipe = parse({**TABLES, "checkpoint": {"every_steps": 5}, "monitor": {"samples": ["a"]}})
    with hold(Run(recipe, run.base, run.directory)):
        pass
    assert load_run(run.directory).recipe.checkpoint.every_steps == 5


def test_fresh_removes_the_training_and_says_so(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with_checkpoint(run)
    (run.directory / "corpus").mkdir()
    (run.directory / "metrics.jsonl").write_text("{}\n")
    with hold(Run(parse({**TABLES, "seed": 2}), run.base, run.directory), fresh=True):
        pass
    assert not (run.directory / "checkpoints").exists()
    assert not (run.directory / "metrics.jsonl").exists()
    assert (run.directory / "corpus").is_dir()
    assert "--fresh: removed" in capsys.readouterr().err
