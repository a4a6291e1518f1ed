"""One tiny run from text to report, and everything that it has to show."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from danlu.errors import MissingError
from danlu.files import append_line
from danlu.recipe import parse
from danlu.train.limits import Limits
from danlu.workflow import results, stages
from danlu.workflow.run import Run, load_run, open_run

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


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that a limit stopped at step 2 and the same command finished at step 4."""
    folder = tmp_path_factory.mktemp("road")
    (folder / "texts").mkdir()
    for number in range(40):
        words = " ".join(WORDS[(number * 7 + i * i) % len(WORDS)] for i in range(60))
        (folder / "texts" / f"{number}.txt").write_text(f"Text {number}. {words}.\n")
    tables = {
        "name": "road",
        "corpus": {"validation_share": 0.3, "source": [{"domain": "prose", "paths": ["texts/*.txt"]}]},
        "tokenizer": {"vocab_size": 280},
        "model": {"width": 32, "layers": 1, "heads": 2},
        "train": {"steps": 4, "sequence_length": 32, "batch_tokens": 64},
        "monitor": {"samples": ["the"], "sample_tokens": 4},
    }
    run = open_run(parse(tables), folder, folder / "runs")
    stages.run_all(run, Limits(steps=2))
    assert [saved["step"] for saved in results.saved_steps(run.directory)] == [0, 2]
    stages.run_all(run)
    return run


def headlines(capsys: pytest.CaptureFixture[str], do: Callable[[], Any]) -> dict[str, str]:
    capsys.readouterr()
    do()
    lines = capsys.readouterr().err.splitlines()
    return dict(line.split(": ", 1) for line in lines if not line.startswith(" ") and ": " in line)


def test_the_whole_road_is_there(run: Run) -> None:
    for name in (
        "recipe.toml",
        "plan.json",
        "metrics.jsonl",
        "evaluations.jsonl",
        "report.html",
        "export/model.safetensors",
        "tokenizer/tokenizer.json",
        "checkpoints/step-00000004/manifest.json",
    ):
        assert (run.directory / name).is_file(), name
    assert not list(run.directory.rglob(".tmp-*"))


def test_a_finished_run_is_not_done_again(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    said = headlines(capsys, lambda: stages.run_all(load_run(run.directory)))
    stages_done = ("corpus", "tokenizer", "tokens", "plan", "training", "evaluation", "export")
    assert {said[name] for name in stages_done} == {"done already"}


def test_a_damaged_export_is_made_again(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    path = run.directory / "export" / "config.json"
    good = path.read_bytes()
    path.write_bytes(good[:-3])
    said = headlines(capsys, lambda: stages.run_all(run))
    assert said["export"].startswith("redone because output config.json is damaged")
    assert said["evaluation"] == "done already"
    assert path.read_bytes() == good


def test_the_evaluation_has_a_final_row_with_baselines(run: Run) -> None:
    rows = [json.loads(line) for line in (run.directory / "evaluations.jsonl").read_text().splitlines()]
    row = rows[-1]
    assert (row["step"], row["domain"], row["final"]) == (4, "prose", True)
    assert set(row["baselines"]) == {"order0", "bigram", "xz"}
    assert results.describe_evaluation(row).startswith("prose: ")


def test_what_is_beaten_and_what_is_not_is_said() -> None:
    row = {"domain": "a", "loss": 2.0, "perplexity": 7.4, "bits_per_byte": 2.0}
    text = results.describe_evaluation({**row, "baselines": {"order0": 4.0, "bigram": 3.0, "xz": 1.0}})
    assert text.endswith("; beats order-0 (4.00) and bigram (3.00), but not xz -9 (1.00)")


def test_texts_are_generated_the_same_each_time(run: Run) -> None:
    texts = ["".join(results.generate_text(run, "the", 8, 0.8, seed)) for seed in (1, 1, 2)]
    assert texts[0] == texts[1]


def test_the_documents_of_a_step_are_named(run: Run) -> None:
    documents = results.documents_of_step(run, 1)
    assert sum(document["tokens"] for document in documents) <= 64
    assert all(document["source"].startswith("texts/") for document in documents)
    with pytest.raises(MissingError, match="no step 5"):
        results.documents_of_step(run, 5)


def test_the_mixture_of_the_plan_is_explained(run: Run) -> None:
    explained = results.explain_run(run)
    (row,) = explained.rows
    assert explained.notes == []
    assert row["domain"] == "prose"
    assert row["samples"] == 8


def test_an_export_goes_where_it_is_wanted(run: Run, tmp_path: Path) -> None:
    facts = results.export_run(run, tmp_path / "hf")
    assert facts["max_logit_difference"] <= 1e-4
    assert (tmp_path / "hf" / "config.json").is_file()


def test_a_damaged_save_is_named(run: Run) -> None:
    path = run.directory / "checkpoints" / "step-00000000" / "model.safetensors"
    good = path.read_bytes()
    path.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    verdicts = {verdict["step"]: verdict["damage"] for verdict in results.verify_steps(run.directory)}
    path.write_bytes(good)
    assert verdicts[4] is None
    assert "damaged" in str(verdicts[0])


def test_a_run_without_saves_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="danlu train"):
        results.saved_steps(tmp_path)


def test_the_card_tells_the_final_evaluation_and_is_renewed_with_it(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    card = run.directory / "export" / "README.md"
    assert "order-0" in card.read_text()
    assert "order0" not in card.read_text()
    path = run.directory / "evaluations.jsonl"
    before = path.read_bytes()
    row = json.loads(before.splitlines()[-1])
    append_line(path, {**row, "final": False, "bits_per_byte": 123.456})
    results.export_run(run, run.directory / "partial")
    assert "123.456" not in (run.directory / "partial" / "README.md").read_text()
    append_line(path, {**row, "bits_per_byte": 65.432})
    said = headlines(capsys, lambda: stages.export_stage(run))
    assert said["export"] == "redone because input evaluation changed"
    assert "65.432" in card.read_text()
    path.write_bytes(before)
    stages.export_stage(run)
