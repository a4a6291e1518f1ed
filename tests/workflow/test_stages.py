"""The road: nothing is done twice, a change redoes what depends on it and says why, nothing is lost."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from danlu.checkpoint.manifest import MANIFEST, STATE, Entry, Manifest, step_name
from danlu.errors import InputError, MismatchError
from danlu.files import sha256_file
from danlu.recipe import Recipe, parse
from danlu.shards.build import build_tokens
from danlu.shards.shard import verify_shard
from danlu.workflow import stages
from danlu.workflow.run import Run, hold, open_run

WORDS = (
    "the",
    "a",
    "green",
    "small",
    "river",
    "stone",
    "reads",
    "writes",
    "under",
    "over",
    "quickly",
    "never",
)


def prose(number: int) -> str:
    """A short text of its own for every number."""
    words = [WORDS[(number * 7 + i * i) % len(WORDS)] for i in range(40)]
    return f"Text {number}. " + " ".join(words) + ".\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts").mkdir()
    for number in range(30):
        (tmp_path / "texts" / f"{number}.txt").write_text(prose(number))
    return tmp_path


def a_run(folder: Path, **tables: Any) -> Run:
    source = {"domain": "prose", "paths": ["texts/*.txt"]}
    defaults: dict[str, Any] = {
        "name": "small",
        "corpus": {"validation_share": 0.3, "source": [source]},
        "tokenizer": {"vocab_size": 280},
        "model": {"width": 32, "layers": 1, "heads": 2},
        "train": {"steps": 2, "sequence_length": 32, "batch_tokens": 64},
    }
    return open_run(parse({**defaults, **tables}), folder)


def do(run: Run, last: str = "tokens") -> None:
    with hold(run):
        stages.through(run, last)


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Iterator[Any]:
    def headlines() -> dict[str, str]:
        """What each stage said of itself since the last call."""
        lines = capsys.readouterr().err.splitlines()
        pairs = [line.split(": ", 1) for line in lines if not line.startswith(" ") and ": " in line]
        return {
            name: why for name, why in pairs if name in ("corpus", "tokenizer", "tokens", "plan", "training")
        }

    return headlines


def test_what_is_done_is_not_redone(folder: Path, said: Any) -> None:
    do(a_run(folder))
    assert said() == dict.fromkeys(["corpus", "tokenizer", "tokens"], "building")
    before = {path: path.stat().st_mtime_ns for path in (folder / "runs").rglob("*.parquet")}
    do(a_run(folder))
    assert said() == dict.fromkeys(["corpus", "tokenizer", "tokens"], "done already")
    assert {path: path.stat().st_mtime_ns for path in (folder / "runs").rglob("*.parquet")} == before


def test_a_changed_text_redoes_what_follows_and_says_why(folder: Path, said: Any) -> None:
    do(a_run(folder))
    said()
    (folder / "texts" / "3.txt").write_text(prose(3) + "Something was added to it since.\n")
    do(a_run(folder))
    assert said() == {
        "corpus": "redone because input texts/3.txt changed",
        "tokenizer": "redone because input corpus changed",
        "tokens": "redone because input corpus changed (and 1 more)",
    }


@pytest.mark.parametrize("change", ["new", "gone"])
def test_a_text_that_comes_or_goes_is_noticed(folder: Path, said: Any, change: str) -> None:
    do(a_run(folder))
    said()
    if change == "new":
        (folder / "texts" / "99.txt").write_text(prose(99))
    else:
        (folder / "texts" / "3.txt").unlink()
    do(a_run(folder))
    assert (
        said()["corpus"] == f"redone because input texts/{'99' if change == 'new' else '3'}.txt is {change}"
    )


def test_an_equal_output_does_not_invalidate_what_follows(folder: Path, said: Any) -> None:
    do(a_run(folder))
    said()
    os.utime(folder / "texts" / "3.txt", ns=(1, 1))
    do(a_run(folder))
    assert said() == {
        "corpus": "redone because input texts/3.txt changed",
        "tokenizer": "done already",
        "tokens": "done already",
    }


def test_a_changed_setting_redoes_exactly_what_depends_on_it(folder: Path, said: Any) -> None:
    do(a_run(folder))
    said()
    do(a_run(folder, tokenizer={"vocab_size": 285}))
    assert said() == {
        "corpus": "done already",
        "tokenizer": "redone because vocab_size: 280 -> 285",
        "tokens": "redone because input tokenizer changed",
    }


def test_settings_of_later_stages_redo_nothing_before_them(folder: Path, said: Any) -> None:
    do(a_run(folder))
    said()
    do(a_run(folder, seed=9, optimizer={"kind": "muon"}, mixture={"weights": {"prose": 1.0}}))
    assert set(said().values()) == {"done already"}


def test_the_mixture_and_the_seed_count_where_the_tokenizer_sees_a_sample(folder: Path, said: Any) -> None:
    do(a_run(folder, tokenizer={"vocab_size": 280, "sample_bytes": 2000}))
    said()
    do(a_run(folder, seed=9, tokenizer={"vocab_size": 280, "sample_bytes": 2000}))
    assert said()["tokenizer"] == "redone because seed: 1 -> 9"


def test_a_missing_and_a_damaged_output_are_noticed(folder: Path, said: Any) -> None:
    run = a_run(folder)
    do(run)
    said()
    (run.directory / "tokenizer" / "tokenizer.json").unlink()
    shard = next((run.directory / "tokens").rglob("shard-*.safetensors"))
    shard.write_bytes(shard.read_bytes()[:-1] + b"?")
    do(run)
    assert said()["tokenizer"] == "redone because output tokenizer.json is missing"
    verify_shard(shard)
    do(run)
    assert said() == dict.fromkeys(["corpus", "tokenizer", "tokens"], "done already")


def test_a_given_tokenizer_is_taken_over_and_watched(folder: Path, said: Any) -> None:
    do(a_run(folder))
    given = folder / "given.json"
    given.write_bytes((folder / "runs" / "small" / "tokenizer" / "tokenizer.json").read_bytes())
    said()
    do(a_run(folder, name="other", tokenizer={"path": "given.json"}))
    assert (folder / "runs" / "other" / "tokenizer" / "tokenizer.json").read_bytes() == given.read_bytes()
    given.write_text("{}")
    with pytest.raises(InputError, match=r"given\.json"):
        do(a_run(folder, name="other", tokenizer={"path": "given.json"}))
    assert (folder / "runs" / "other" / "tokenizer" / "tokenizer.json").stat().st_size > 2
    given.unlink()
    with pytest.raises(InputError, match="there is no file"):
        do(a_run(folder, name="other", tokenizer={"path": "given.json"}))


def test_a_corpus_whose_texts_are_gone_stays_as_it_was_built(folder: Path, said: Any, capsys: Any) -> None:
    do(a_run(folder))
    for path in (folder / "texts").iterdir():
        path.unlink()
    said()
    do(a_run(folder))
    assert set(said().values()) == {"done already"}
    with pytest.raises(InputError, match="no file matches"):
        do(a_run(folder, name="another"))


def test_a_corpus_that_cannot_be_trained_on_stands_to_be_looked_at(folder: Path) -> None:
    run = a_run(
        folder,
        corpus={
            "source": [{"domain": "prose", "paths": ["texts/*.txt"]}],
            "step": [{"use": "length", "min_characters": 10_000}],
        },
    )
    for _ in range(2):
        with pytest.raises(InputError, match=r"the corpus is empty: .* by length\.too_short"):
            do(run)
    assert "length.too_short" in (run.directory / "corpus.html").read_text()
    assert not (run.directory / "tokenizer").exists()
    assert not list(run.directory.glob(".tmp-*"))


def test_the_first_documents_are_shown_as_they_were_split(folder: Path, capsys: Any) -> None:
    do(a_run(folder), "corpus")
    shown = capsys.readouterr().err
    assert "texts/0.txt" in shown
    assert "Text 0. the" in shown


# The training, with a trainer that only leaves a checkpoint: what is tested is what the stages decide around it.


def a_plan(recipe: Recipe) -> SimpleNamespace:
    """What the stages read of a plan."""
    train = recipe.train
    tokens = round(train.minutes * 64) if train.minutes else train.tokens or (train.steps or 0) * 64
    return SimpleNamespace(tokens=tokens, steps=tokens // 64)


@pytest.fixture
def trainer(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Replaces measuring and training; returns the recipes that were measured."""
    measured: list[Any] = []

    def measure_plan(recipe: Any, run: Path) -> Any:
        measured.append(recipe)
        return a_plan(recipe)

    def train(recipe: Any, run: Path, plan: Any, limits: Any) -> Any:
        step = run / "checkpoints" / step_name(plan.steps)
        step.mkdir(parents=True, exist_ok=True)
        state = step / STATE
        state.write_text(json.dumps({"identity": {"stages": []}}))
        entry = Entry(STATE, state.stat().st_size, sha256_file(state))
        (step / MANIFEST).write_bytes(Manifest(plan.steps, (entry,)).encode())
        return SimpleNamespace(status="done", step=plan.steps, tokens=plan.tokens, total_tokens=plan.tokens)

    monkeypatch.setattr(
        "danlu.plan.plan.write_plan", lambda path, plan: path.write_text(json.dumps(vars(plan)))
    )
    monkeypatch.setattr(
        "danlu.plan.plan.read_plan", lambda path: SimpleNamespace(**json.loads(path.read_text()))
    )
    monkeypatch.setattr("danlu.plan.plan.render", lambda plan: "  a plan")
    for name, function in (("measure", measure_plan), ("loop", train)):
        module = ModuleType(f"danlu.train.{name}")
        setattr(module, function.__name__, function)
        monkeypatch.setitem(sys.modules, f"danlu.train.{name}", module)
    return measured


def do_train(run: Run, fresh: bool = False) -> None:
    with hold(run, fresh):
        stages.prepare(run)
        stages.train_stage(run)


def test_the_plan_is_made_once_and_again_when_its_settings_change(
    folder: Path, trainer: list, said: Any
) -> None:
    do(a_run(folder), "plan")
    do(a_run(folder), "plan")
    assert len(trainer) == 1
    said()
    do(a_run(folder, optimizer={"weight_decay": 0.2}), "plan")
    assert said()["plan"] == "redone because optimizer.weight_decay: 0.1 -> 0.2"
    do(a_run(folder, optimizer={"weight_decay": 0.2}, checkpoint={"every_steps": 3}), "plan")
    assert said()["plan"] == "done already"


def test_another_text_under_a_training_is_refused_and_nothing_is_lost(folder: Path, trainer: list) -> None:
    def files() -> dict[Path, bytes]:
        found = (path for path in run.directory.rglob("*") if path.is_file() and path.name[0] != ".")
        return {path: path.read_bytes() for path in found if "corpus.work" not in path.parts}

    run = a_run(folder)
    do_train(run)
    before = files()
    text = (folder / "texts" / "3.txt").read_text()
    (folder / "texts" / "3.txt").write_text(prose(3) + "Something was added to it since.\n")
    with pytest.raises(MismatchError, match=r"another corpus[\s\S]*texts/3.txt changed"):
        do_train(run)
    assert files() == before
    assert (run.directory / "corpus.work").exists(), "with --fresh the same build goes on"
    (folder / "texts" / "3.txt").write_text(text)
    do_train(run)
    assert not (run.directory / "corpus.work").exists()


def test_touched_but_equal_text_does_not_disturb_a_training(folder: Path, trainer: list, said: Any) -> None:
    do_train(a_run(folder))
    os.utime(folder / "texts" / "3.txt", ns=(1, 1))
    said()
    do_train(a_run(folder))
    assert said()["tokens"] == "done already"


def test_fresh_starts_the_training_over_on_the_new_text(folder: Path, trainer: list, said: Any) -> None:
    do_train(a_run(folder))
    (folder / "texts" / "3.txt").write_text(prose(3) + "Something was added to it since.\n")
    do_train(a_run(folder), fresh=True)
    do_train(a_run(folder))
    assert said()["corpus"] == "done already"


def test_a_new_cut_of_the_batch_keeps_the_length_that_minutes_gave(folder: Path, trainer: list) -> None:
    train = {"minutes": 3, "sequence_length": 32, "batch_tokens": 64}
    do_train(a_run(folder, train=train))
    do_train(a_run(folder, train={**train, "micro_batch": 1}))
    assert [recipe.train.minutes for recipe in trainer] == [3, None]
    assert trainer[1].train.tokens == 3 * 64


def test_the_outlook_tells_what_would_be_done(folder: Path, trainer: list) -> None:
    run = a_run(folder)
    assert dict(stages.outlook(run))["corpus"] == "would be done: not built yet"
    do_train(run)
    assert set(dict(stages.outlook(run)).values()) == {"done already"}
    os.utime(folder / "texts" / "3.txt", ns=(1, 1))
    seen = dict(stages.outlook(run))
    assert seen["corpus"] == "would be redone: input texts/3.txt changed"
    assert seen["tokens"] == "would be redone if the corpus comes out different"
    assert list(dict(stages.outlook(run, "tokenizer"))) == ["corpus", "tokenizer"]


def test_refused_shards_do_not_count_as_done_the_second_time(
    folder: Path, trainer: list, said: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_run(folder)
    do_train(run)
    shard = next((run.directory / "tokens").rglob("shard-*.safetensors"))
    shard.unlink()

    def of_another_version(tokenizer: Path, corpus: Path, directory: Path, **rest: Any) -> Any:
        report = build_tokens(tokenizer, corpus, directory, **rest)
        shard.write_bytes(shard.read_bytes() + b"x")
        return report

    monkeypatch.setattr("danlu.shards.build.build_tokens", of_another_version)
    for _ in range(2):
        said()
        with pytest.raises(MismatchError, match="another tokens"):
            do_train(run)


def test_a_directory_left_aside_by_a_kill_is_put_back(folder: Path, said: Any) -> None:
    run = a_run(folder)
    do(run)
    (run.directory / "corpus").rename(run.directory / ".old-corpus")
    said()
    do(run)
    assert set(said().values()) == {"done already"}
