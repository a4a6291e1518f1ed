"""The table of what decides what."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from danlu.checkpoint.manifest import MANIFEST, STATE, Entry, Manifest
from danlu.checkpoint.steps import step_path
from danlu.errors import InputError, MissingError
from danlu.files import append_line, sha256_file
from danlu.recipe import parse
from danlu.workflow import depends
from danlu.workflow.run import Run, open_run
from danlu.workflow.stage import Stage, why_stale, write_manifest


def a_run(folder: Path, **tables: Any) -> Run:
    (folder / "a.txt").write_text("text")
    source = {"domain": "prose", "paths": ["*.txt"]}
    train = {"steps": 2, "sequence_length": 32, "batch_tokens": 64, **tables.pop("train", {})}
    return open_run(
        parse({"name": "x", "corpus": {"source": [source]}, "train": train, **tables}), folder, folder
    )


def decides(stage: Stage) -> tuple[Any, Any]:
    return stage.settings, stage.inputs


CHANGES: dict[str, dict[str, Any]] = {
    "seed": {"seed": 2},
    "vocab_size": {"tokenizer": {"vocab_size": 300}},
    "packing": {"tokens": {"packing": "chunk"}},
    "join": {"tokens": {"join": {"prose": "title"}}},
    "weights": {"mixture": {"weights": {"prose": 1.0}}},
    "width": {"model": {"size": "1M"}},
    "rate": {"optimizer": {"learning_rate": 0.1}},
    "micro_batch": {"train": {"micro_batch": 1}},
    "saves": {"checkpoint": {"every_steps": 3}},
    "prompts": {"monitor": {"samples": ["x"]}},
}
EXPECTED = {
    "seed": {"plan"},
    "vocab_size": {"tokenizer"},
    "packing": {"plan"},
    "join": {"tokens", "plan"},
    "weights": {"plan"},
    "width": {"plan"},
    "rate": {"plan"},
    "micro_batch": {"plan"},
    "saves": set(),
    "prompts": set(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_each_setting_decides_exactly_its_stages(tmp_path: Path, change: str) -> None:
    before, after = a_run(tmp_path), a_run(tmp_path, **CHANGES[change])
    stages = (depends.corpus, depends.tokenizer, depends.tokens, depends.plan)
    changed = {of.__name__ for of in stages if decides(of(before)) != decides(of(after))}
    assert changed == EXPECTED[change]


def test_the_corpus_depends_on_its_section_and_its_files(tmp_path: Path) -> None:
    stage = depends.corpus(a_run(tmp_path))
    assert set(stage.settings) == {
        *(
            "validation_share",
            "max_document_bytes",
            "source",
            "step",
            "words",
            "shard_bytes",
            "measure_dropped",
        )
    }
    assert list(stage.inputs) == ["a.txt"]


def test_what_needs_a_checkpoint_says_how_to_get_one(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    for of in (depends.evaluation, depends.export):
        with pytest.raises(MissingError, match="no checkpoint yet"):
            of(run)


def test_python_s_own_text_is_named_by_its_version(tmp_path: Path) -> None:
    source = {"domain": "code", "paths": ["python:stdlib"]}
    recipe = parse({"name": "x", "corpus": {"source": [source]}, "train": {"steps": 1}})
    inputs = depends.corpus(open_run(recipe, tmp_path)).inputs
    assert list(inputs) == ["python:stdlib"]


def saved(run: Run, *steps: int) -> None:
    for step in steps:
        path = step_path(run.directory / "checkpoints", step)
        path.mkdir(parents=True)
        (path / STATE).write_text("{}")
        entry = Entry(STATE, 2, sha256_file(path / STATE))
        (path / MANIFEST).write_bytes(Manifest(step, (entry,)).encode())


@pytest.mark.parametrize("damage", ["manifest.json", "state.json"])
def test_a_damaged_newest_checkpoint_counts_as_little_as_in_loading(tmp_path: Path, damage: str) -> None:
    run = a_run(tmp_path)
    saved(run, 2)
    before = [of(run).inputs for of in (depends.evaluation, depends.explanation, depends.export)]
    saved(run, 4)
    assert depends.newest_checkpoint(run).step == 4
    assert depends.evaluation(run).inputs != before[0]
    (step_path(run.directory / "checkpoints", 4) / damage).unlink()
    assert depends.newest_checkpoint(run).step == 2
    assert [of(run).inputs for of in (depends.evaluation, depends.explanation, depends.export)] == before


def test_the_export_follows_the_final_evaluation_which_its_card_tells(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    saved(run, 4)
    before = depends.export(run).inputs
    row = {"step": 4, "domain": "prose", "loss": 2.0}
    for partial in (row, {**row, "final": False}, {**row, "step": 2, "final": True}):
        append_line(run.directory / "evaluations.jsonl", partial)
    assert depends.final_evaluations(run.directory, 4) == []
    assert depends.export(run).inputs == before
    append_line(run.directory / "evaluations.jsonl", {**row, "final": True})
    append_line(run.directory / "evaluations.jsonl", row)
    assert depends.final_evaluations(run.directory, 4) == [{**row, "final": True}]
    assert depends.export(run).inputs != before


def with_pair(folder: Path, path: str = "given") -> Run:
    return a_run(folder, tokenizer={"path": "t.json"}, tokens={"megatron": {"books": path}})


def test_the_tokens_depend_on_what_is_given_as_ids(tmp_path: Path) -> None:
    for ending in ("bin", "idx"):
        (tmp_path / f"given.{ending}").write_bytes(b"x")
    stage = depends.tokens(with_pair(tmp_path))
    assert set(stage.inputs) == {"corpus", "tokenizer", "given: given.bin", "given: given.idx"}
    write_manifest(stage)
    assert why_stale(stage) is None
    (tmp_path / "given.bin").write_bytes(b"xy")
    assert why_stale(depends.tokens(with_pair(tmp_path))) == "input given: given.bin changed"
    (tmp_path / "given.card.json").write_bytes(b"{}")
    assert "given: given.card.json" in depends.tokens(with_pair(tmp_path)).inputs


def test_shards_of_a_dataset_that_is_gone_stand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match=r"tokens\.megatron: 'books'.*given\.bin.*without \.bin and \.idx"):
        depends.tokens(with_pair(tmp_path))
    for ending in ("bin", "idx"):
        (tmp_path / f"given.{ending}").write_bytes(b"x")
    write_manifest(depends.tokens(with_pair(tmp_path)))
    (tmp_path / "given.idx").unlink()
    assert why_stale(depends.tokens(with_pair(tmp_path))) is None
    assert "stay as they were built" in capsys.readouterr().err
    with pytest.raises(InputError, match=r"another\.bin"):
        depends.tokens(with_pair(tmp_path, "another"))


def test_folders_begin_where_the_sources_say(tmp_path: Path) -> None:
    stage = depends.tokens(a_run(tmp_path, tokens={"join": {"prose": "folder"}}))
    assert stage.settings["roots"] == {"prose": [""]}
    assert "roots" not in depends.tokens(a_run(tmp_path)).settings


def test_shards_of_before_there_was_anything_to_join_stand(tmp_path: Path) -> None:
    stage = depends.tokens(a_run(tmp_path))
    write_manifest(replace(stage, settings={}))
    assert why_stale(stage) is None
